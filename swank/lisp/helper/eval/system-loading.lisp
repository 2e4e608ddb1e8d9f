;;;; system-loading.lisp -- loading a system with Quicklisp or ASDF

(cl:in-package #:swank-mcp)

(defun call-with-building (function)
  "Call FUNCTION, which loads systems, without a line about each file, with the definitions that
the user has given, and with the readtable of files."
  (let ((*load-verbose* nil) (*load-print* nil)
        (*compile-verbose* nil) (*compile-print* nil))
    (ensure-asdf)
    (flet ((build () (call-with-given-definitions function)))
      (if *evaluation*
          (call-with-file-syntax (evaluation-session *evaluation*) #'build)
          (build)))))

(defun call-building (name build)
  "Call BUILD, which builds the system NAME, with regard to what the image has.  A fresh image has
nothing but its core, and nobody asks it what its files were."
  (cond ((null *own-systems*)
         (call-seeing-changes name
                              (lambda ()
                                (call-again-for-structures
                                 (lambda () (call-noting-files build))))))
        (*preloaded* (funcall build))
        (t (call-seeing-changes name build)))) ; fasls of what it needs can be stale

(defun systems-told-of (name)
  "The system NAME and those that it needs; in a fresh image only the project's own of these."
  (let ((names (system-with-dependencies name)))
    (if *own-systems* (remove-if-not #'own-system-p names) names)))

(defun upgrade-asdf ()
  "Have ASDF replace itself by a newer one that it finds.  What the compiler says of that one is nobody's
work, and no part of a reply."
  (handler-bind ((warning #'muffle)
                 #+sbcl (sb-ext:compiler-note #'muffle))
    (asdf-value "UPGRADE-ASDF")))

(defun meant-system (name file)
  "The name of the system that is to be loaded: by the path of its definition, FILE, or by NAME."
  (if file (system-defined-in file) (meant-name name)))

(defun load-named-system (name &key force file quietly)
  "Load the system NAME, which FILE may define, with QUICKLOAD if Quicklisp is there, else with
ASDF, and return its name.  Their output and the system's goes to standard output, and unless
QUIETLY, so does a line about the system."
  (call-with-building
   (lambda ()
     (let ((*building* name))
       (upgrade-asdf)                   ; else it would do so in the midst of our work
       (setf name (meant-system name file)
             *building* name)
       (when (and *evaluation* (evaluation-system *evaluation*))
         (setf (evaluation-system *evaluation*) name))
       (note-origin name)
       (begin-fresh name)
       (require-defined-part name)
       (let ((compiled '()))
         (unwind-protect
              (call-noting-compiled
               (lambda (file) (pushnew file compiled :test #'string=))
               (lambda ()
                 (call-building name (lambda () (build-system name force quietly)))))
           (note-built name compiled (mapcan #'system-units (systems-told-of name)))))
       (note-origin name))))
  name)

(defun build-system (name force quietly)
  (cond ((and (quicklisp-p) (not force))
         (call-named '#:ql "QUICKLOAD" name :verbose nil))
        (t (when (and (not quietly) (find-defined name))
             (format t "; Loading ~S~%" name))
           (call-named '#:asdf "LOAD-SYSTEM" name :verbose nil :force force))))

(defun require-defined-part (name)
  "Signal ASDF's error if NAME, like \"a/b\", is not in the definition of the known system \"a\"."
  (let ((primary (primary-name name)))
    (when (and (string/= primary name)
               (asdf-value "REGISTERED-SYSTEM" primary)
               (not (find-defined name)))
      (error (find-symbol "MISSING-COMPONENT" '#:asdf) :requires name))))

(defun note-origin (name)
  "Have the current evaluation's reply say which file defines the system NAME."
  (let ((file (definition-file (primary-name name))))
    (when (and file *evaluation* (null (evaluation-origin *evaluation*)))
      (setf (evaluation-origin *evaluation*) (native-name file)))))

(defun restore-system (name &rest files)
  "Load the system NAME in a restore.  FILES define what ASDF would not find."
  (call-with-building
   (lambda ()
     (dolist (file files)
       (let ((path (native-file file)))
         (unless (probe-file path)
           (error "The definition in ~A is gone." file))
         (register-definition path)))))
  (load-named-system name)
  (note-system (evaluation-session *evaluation*) name))

;;; Failures

(defun missing-system-p (condition)
  (let ((type (type-label condition)))
    (or (string= type "ASDF:MISSING-COMPONENT") (and (search "SYSTEM-NOT-FOUND" type) t))))

(defun system-failure-text (condition name)
  "The message for CONDITION, signalled while the system NAME was loaded."
  (let ((type (type-label condition)))
    (cond ((string= type "ASDF:MISSING-COMPONENT")
           (format nil "Component ~S not found~@[~%Near it: ~{~A~^, ~}.~]~@[~%A definition that ASDF has not been told of: ~{~A~^, ~}.~]"
                   name (near-systems name)
                   (mapcar #'native-name (unregistered-definitions name))))
          ((search "SYSTEM-NOT-FOUND" type)
           (format nil "System ~S not found in any known distribution.~@[~%Near it: ~{~A~^, ~}.~]"
                   name (near-systems name)))
          (t (condition-text condition)))))
