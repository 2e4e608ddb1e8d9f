;;;; loading.lisp -- a system loaded, with Quicklisp or ASDF

(cl:in-package #:swank-mcp)

(defun call-with-building (function)
  "Call FUNCTION, which loads systems: without a line about each file, and with the
definitions that we were told of.  ASDF may be among what is loaded: it replaces
itself by a newer version where it finds one."
  (let ((*load-verbose* nil) (*load-print* nil)
        (*compile-verbose* nil) (*compile-print* nil))
    (ensure-asdf)
    (call-with-told-definitions function)))

(defun load-named-system (name &key force file quietly)
  "Load the system NAME, which FILE may define, with Quicklisp's QUICKLOAD where it is,
else with ASDF.  What they and the system print goes to standard output; so does, unless
QUIETLY, that it is loaded."
  (call-with-building
   (lambda ()
     (let ((*building* name))
       (asdf-value "UPGRADE-ASDF")      ; as it would later, in the midst of our work
       (if file (tell-of-definition file) (look-again-for name))
       (note-origin name)
       (require-defined-part name)
       (call-seeing-changes name
                            (lambda ()
                              (call-again-for-structures
                               (lambda () (build-system name force quietly)))))
       (note-origin name))))
  name)

(defun build-system (name force quietly)
  (cond ((and (quicklisp-p) (not force))
         (call-named '#:ql "QUICKLOAD" name :verbose nil))
        (t (when (and (not quietly) (find-defined name))
             (format t "; Loading ~S~%" name))
           (call-named '#:asdf "LOAD-SYSTEM" name :verbose nil :force force))))

(defun require-defined-part (name)
  "Signal what ASDF would if NAME is of no system in the definition of a known one."
  (let ((primary (primary-name name)))
    (when (and (string/= primary name)
               (asdf-value "REGISTERED-SYSTEM" primary)
               (not (find-defined name)))
      (error (find-symbol "MISSING-COMPONENT" '#:asdf) :requires name))))

(defun note-origin (name)
  "The current evaluation is about the system NAME: its reply says where that is from."
  (let ((file (definition-file (primary-name name))))
    (when (and file *evaluation* (null (evaluation-origin *evaluation*)))
      (setf (evaluation-origin *evaluation*) (native-name file)))))

(defun restore-system (name &rest files)
  "Load the system NAME again; FILES define what ASDF would not find."
  (call-with-building
   (lambda ()
     (dolist (file files)
       (let ((path (native-file file)))
         (unless (probe-file path)
           (error "The definition in ~A is gone." file))
         (tell-of-definition path)))))
  (load-named-system name)
  (note-system (evaluation-session *evaluation*) name))

;;; Failures

(defun missing-system-p (condition)
  (let ((type (type-label condition)))
    (or (string= type "ASDF:MISSING-COMPONENT") (and (search "SYSTEM-NOT-FOUND" type) t))))

(defun system-failure-text (condition name)
  "The message for CONDITION, met while loading the system NAME."
  (let ((type (type-label condition)))
    (cond ((string= type "ASDF:MISSING-COMPONENT")
           (format nil "Component ~S not found~@[~%Near it: ~{~A~^, ~}.~]~@[~%A definition that ASDF has not been told of: ~{~A~^, ~}.~]"
                   name (near-systems name)
                   (mapcar #'native-name (unregistered-definitions name))))
          ((search "SYSTEM-NOT-FOUND" type)
           (format nil "System ~S not found in any known distribution.~@[~%Near it: ~{~A~^, ~}.~]"
                   name (near-systems name)))
          (t (condition-text condition)))))
