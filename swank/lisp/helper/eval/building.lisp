;;;; building.lisp -- where in a system's files an error or a warning is met

(cl:in-package #:swank-mcp)

#+sbcl
(defun top-level-name-p (name)
  "True of the code of a top level form in a compiled file."
  (or (and (consp name) (eq (first name) 'sbcl:top-level-form))
      (equal name "top level form")))

(defun program-frames (texts frames)
  "How many of TEXTS, those of FRAMES, tell of the program: the rest is about loading
and compiling, or there is no function of the program's in it at all."
  #+sbcl
  (flet ((name (frame) (sbcl:debug-fun-name (sbcl:frame-debug-fun frame)))
         (of-machinery-p (name)
           (let ((symbol (frame-name-symbol name)))
             (or (top-level-name-p name)
                 (member symbol '(load compile-file))
                 (and symbol
                      (symbol-package symbol)
                      (some (lambda (prefix) (eql 0 (search prefix (package-name (symbol-package symbol)))))
                            '("ASDF/" "UIOP/" "QUICKLISP" "QL-" "SB-FASL")))))))
    (let ((end (or (position-if (lambda (frame) (of-machinery-p (name frame))) frames)
                   (length frames))))
      (if (find-if (lambda (frame)
                     (let ((symbol (frame-name-symbol (name frame))))
                       (and symbol (program-package-p (symbol-package symbol)))))
                   frames :end end)
          (min end (length texts))
          0)))
  #-sbcl (progn frames (length texts)))

#+sbcl
(defun loading-place ()
  "(VALUES FILE FORM-NUMBER) of the top level form of a compiled file that is being
loaded on this thread; NIL if there is none."
  (sbcl:map-backtrace
   (lambda (frame)
     (when (top-level-name-p (sbcl:debug-fun-name (sbcl:frame-debug-fun frame)))
       (let* ((location (sbcl:frame-code-location frame))
              (file (sbcl:debug-source-namestring (sbcl:code-location-debug-source location))))
         (when file
           (return-from loading-place
             (values file (sbcl:code-location-toplevel-form-offset location)))))))
   :from (or (sbcl:resolve-stack-top-hint) :interrupted-frame)
   :count *deepest-frame*)
  nil)

(defun read-from-file-p (condition)
  "True of an error of the reader in a file that code loads.  LOAD-SOURCE tells the
places of its own."
  (and (reading-error condition)
       *evaluation*
       (null (evaluation-work *evaluation*))))

(defun building-place-text (condition)
  "Lines about where in a file that is compiled or loaded CONDITION was met, or NIL."
  #+sbcl
  (ignore-errors
   (let ((collector (make-collector)))
     (multiple-value-bind (file line column)
         (if (or *compile-file-truename* (reading-error condition))
             (note-place collector condition)
             (multiple-value-bind (file number) (loading-place)
               (and file
                    (let* ((path (or (probe-file file) (native-file file)))
                           (source (source-of collector path)))
                      (multiple-value-bind (line column)
                          (line-and-column (src-text source) (form-position source number))
                        (values path line column))))))
       (and line
            (format nil "In ~A:~D:~D; what comes before it was ~:[loaded~;compiled~].~%~4D | ~A"
                    (native-name file) line column *compile-file-truename* line
                    (clip (source-line (source-of collector file) line) 120))))))
  #-sbcl (progn condition nil))

;;; Whose file it is

(defun source-directory (name)
  "The directory of the system NAME's definition as a string, or NIL."
  (let* ((system (asdf-value "REGISTERED-SYSTEM" name))
         (directory (and system (asdf-value "SYSTEM-SOURCE-DIRECTORY" system))))
    (and directory (ignore-errors (native-name directory)))))

(defun foreign-system (file)
  "The name of the system that FILE is of, if that is in another directory than the one
that is being loaded; or NIL."
  (let ((own (and file *building* (source-directory (primary-name *building*))))
        (file (and file (native-name file)))
        (found nil) (length 0))
    (when own
      (dolist (name (asdf-value "REGISTERED-SYSTEMS"))
        (let ((directory (source-directory name)))
          (when (and directory
                     (eql 0 (search directory file))
                     (or (> (length directory) length)
                         (and (= (length directory) length)
                              (or (string= directory own) ; any system that shares ours
                                  (< (length name) (length found))))))
            (setf length (length directory)
                  found name))))
      (and found
           (string/= own (source-directory found))
           found))))
