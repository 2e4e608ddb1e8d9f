;;;; frame-places.lisp -- where in a file a frame is, with the call there

(cl:in-package #:swank-mcp)

;;; SBCL knows of a frame the number of the top level form and that of the form in it.  To find
;;; it in the text, the form is read again, in a package of its own: what is read must not appear
;;; in the program's packages.

(defun call-with-scratch-package (package function)
  "Call FUNCTION where what is read is interned in a new package, in which the nicknames of PACKAGE
hold.  Nothing else of PACKAGE is needed: the shape of the form counts."
  (let ((scratch (make-package (gensym "SWANK-MCP-FRAME") :use '(#:common-lisp))))
    (unwind-protect
         (progn
           (loop for (nickname . other) in (and package (sb-ext:package-local-nicknames package))
                 do (sb-ext:add-package-local-nickname nickname other scratch))
           (let ((*package* scratch))
             (funcall function)))
      (delete-package scratch))))

(defun interns-p (datum)
  "True if reading DATUM, scanned, would make a symbol in a package that it names."
  (some (lambda (token)
          (and (search "::" (token-text token))
               (multiple-value-bind (name prefix) (split-token (token-text token))
                 (let ((package (and prefix (find-package prefix))))
                   (and package (not (find-symbol name package)))))))
        (tokens-in datum)))

(defun numbered-form-position (source number form-number package)
  "The position of the form FORM-NUMBER in the top level form NUMBER of SOURCE, or that of the
latter if the former cannot be found."
  (call-with-scratch-package
   package
   (lambda ()
     (or (ignore-errors
          (when (interns-p (top-level-form (src-text source) number))
            (return-from numbered-form-position (form-position source number)))
          (subform-position source (list number)) ; reads the form
          (let* ((paths (sbcl:form-number-translations (src-form source) number))
                 (path (and (< form-number (length paths)) (aref paths form-number))))
            (and path (subform-position source (reverse (rest path))))))
         (form-position source number)))))

(defun as-compiled-p (file source)
  "True if FILE has the text that the code of SOURCE, a debug-source, was compiled from.  The records of
the project's files have that text.  Of another file SBCL has noted the date, in seconds."
  (let ((loaded (loaded-file (native-name file))))
    (if (and loaded (eq source (loaded-file-source loaded)))
        (let ((now (file-version (loaded-file-file loaded))))
          (and now (eql (version-code now) (version-code (loaded-file-version loaded)))))
        (eql (file-write-date file) (sbcl:debug-source-created source)))))

(defun unchanged-file-of (location)
  "The file that the code at LOCATION was compiled from, unless it has changed since; or NIL."
  (let* ((source (sbcl:code-location-debug-source location))
         (name (sbcl:debug-source-namestring source)))
    (and name
         (not (eql 0 (search "SYS:" name)))
         (let ((file (probe-file name)))
           (and file (as-compiled-p file source) file)))))

(defun location-place (location package collector)
  "FILE:LINE: and the first line of the call at LOCATION, in code that was read in PACKAGE; NIL if
it is not in a file."
  (ignore-errors
   (let ((file (unchanged-file-of location)))
     (when file
       (let* ((source (source-of collector file))
              (text (src-text source))
              (position (numbered-form-position
                         source (sbcl:code-location-toplevel-form-offset location)
                         (sbcl:code-location-form-number location) package))
              (end (min (nth-value 2 (scan-datum text position))
                        (or (position #\newline text :start position) (length text)))))
         (format nil "~A:~D: ~A" (native-name file) (line-and-column text position)
                 (clip (string-right-trim '(#\return) (subseq text position end)) 100)))))))

(defun frame-spot (frame)
  "What LOCATION-PLACE needs of FRAME, also when FRAME is gone."
  (ignore-errors
   (let ((location (sbcl:frame-code-location frame)))
     ;; newer SBCLs intern names of their own functions' variables that are asked for
     (list location (and (unchanged-file-of location) (frame-package frame))))))

(defun with-places (texts spots)
  "TEXTS of frames, each followed by \"at\" and the place of one of SPOTS, if that is known, on a
second line."
  (let ((collector (make-collector)))
    (loop for text in texts
          for (location package) = (pop spots)
          for place = (and location (location-place location package collector))
          collect (if place (format nil "~A~%  at ~A" text place) text))))
