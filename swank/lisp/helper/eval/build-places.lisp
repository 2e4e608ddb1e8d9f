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

(defun source-stream-position ()
  "(VALUES FILE POSITION) of the form in the source that LOAD is evaluating, or NIL."
  (ignore-errors
   (let* ((stream (sbcl:source-info-stream sbcl:*source-info*)) (file (truename stream)))
     (and (equal file *load-truename*)
          (values file (sbcl:form-tracking-stream-form-start-char-pos stream))))))

(defun fasl-form (frame)
  "(VALUES FILE FORM-NUMBER) of the top level form that FRAME, of a fasl, is in; or NIL."
  (let* ((location (sbcl:frame-code-location frame))
         (file (sbcl:debug-source-namestring (sbcl:code-location-debug-source location))))
    (and file (values (or (probe-file file) (native-file file))
                      (sbcl:code-location-toplevel-form-offset location)))))

(defun place-in-files (collector condition)
  "(VALUES FILE LINE COLUMN WORK) of the top level form that this thread is compiling or loading;
WORK is :COMPILED or :LOADED.  NIL if it does neither."
  (flet ((found (file &optional position)
           (when position
             (multiple-value-bind (line column)
                 (line-and-column (src-text (source-of collector file)) position)
               (return-from place-in-files (values file line column :loaded))))))
    (if (reading-error condition)
        (multiple-value-bind (file line column) (note-place collector condition)
          (values file line column (if *compile-file-truename* :compiled :loaded)))
        (sbcl:map-backtrace
         (lambda (frame)
           (let ((name (sbcl:debug-fun-name (sbcl:frame-debug-fun frame))))
             (cond ((top-level-name-p name)
                    (multiple-value-bind (file number) (fasl-form frame)
                      (when file
                        (found file (form-position (source-of collector file) number)))))
                   ((eq name 'load)
                    (multiple-value-call #'found (source-stream-position)))
                   ((eq name 'compile-file)
                    (multiple-value-bind (file line column) (note-place collector condition)
                      (return-from place-in-files
                        (and line (values file line column :compiled))))))))
         :from (or (sbcl:resolve-stack-top-hint) :interrupted-frame)
         :count *deepest-frame*))))

(defun building-place-text (condition)
  "Lines that say where in the file being compiled or loaded CONDITION occurred, or NIL."
  (when (or *load-truename* *compile-file-truename* (reading-error condition))
    (ignore-errors
     (let ((collector (make-collector)))
       (multiple-value-bind (file line column work) (place-in-files collector condition)
         (and line
              (format nil "In ~:[~A:~;the code, ~*~]~D:~D; what comes before it was ~(~A~).~%~4D | ~A"
                      (equal (native-name file) *work-file*) (native-name file) line column work line
                      (clip (source-line (source-of collector file) line) 120))))))))

;;; The system that a file belongs to

(defun system-of-file (file)
  "The name of the registered system whose definition lies nearest above FILE, a native name; or
NIL."
  (let ((found nil) (length 0))
    (dolist (name (asdf-value "REGISTERED-SYSTEMS") found)
      (let ((directory (definition-directory (definition-file name))))
        (when (and directory
                   (eql 0 (search directory file))
                   (or (> (length directory) length)
                       (and (= (length directory) length)
                            (< (length name) (length found)))))
          (setf length (length directory)
                found name))))))

(defun foreign-system (file)
  "The name of the system of FILE, a native name, if that is neither of the project nor, by its
directory, the one that is being loaded; or NIL."
  (let* ((own (own-directories *building*))
         (found (and own file (string/= file "") (system-of-file file))))
    (and found
         (not (member (definition-directory (definition-file found)) own :test #'string=))
         found)))
