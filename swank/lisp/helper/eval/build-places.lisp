;;;; build-places.lisp -- where in a system's files an error or a warning occurred

(cl:in-package #:swank-mcp)

(defun top-level-name-p (name)
  "True if NAME is that of the code of a top level form in a compiled file."
  (or (and (consp name) (eq (first name) 'sbcl:top-level-form))
      (equal name "top level form")))

(defun program-frames (texts frames)
  "How many of TEXTS, of FRAMES, are worth showing: those before the frames that load and compile,
if a function of the program's is among them."
  (flet ((name (frame) (sbcl:debug-fun-name (sbcl:frame-debug-fun frame)))
         (machinery-p (name)
           (let ((symbol (frame-name-symbol name)))
             (or (top-level-name-p name)
                 (member symbol '(load compile-file))
                 (and symbol
                      (symbol-package symbol)
                      (some (lambda (prefix) (eql 0 (search prefix (package-name (symbol-package symbol)))))
                            '("ASDF/" "UIOP/" "QUICKLISP" "QL-" "SB-FASL")))))))
    (let ((end (or (position-if (lambda (frame) (machinery-p (name frame))) frames)
                   (length frames))))
      (if (find-if (lambda (frame)
                     (let ((symbol (frame-name-symbol (name frame))))
                       (and symbol (program-package-p (symbol-package symbol)))))
                   frames :end end)
          (min end (length texts))
          0))))

(defun loading-place ()
  "(VALUES FILE FORM-NUMBER) of the top level form in the fasl that this thread is loading, or
NIL."
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
  "True if CONDITION is an error of the reader in a file that code loads.  LOAD-SOURCE reports
the places of its own."
  (and (reading-error condition)
       *evaluation*
       (null (evaluation-work *evaluation*))))

(defun building-place-text (condition)
  "Lines that say where in the file being compiled or loaded CONDITION occurred, or NIL."
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
                    (clip (source-line (source-of collector file) line) 120)))))))

;;; The system that a file belongs to

(defun source-directory (name)
  "The directory of the definition of the system NAME as a string, or NIL."
  (let* ((system (asdf-value "REGISTERED-SYSTEM" name))
         (directory (and system (asdf-value "SYSTEM-SOURCE-DIRECTORY" system))))
    (and directory (ignore-errors (native-name directory)))))

(defun foreign-system (file)
  "The name of the system of FILE if it lies in another directory than the system that is being
loaded; or NIL."
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
