;;;; systems.lisp -- LOAD-SYSTEM, with Quicklisp or ASDF

(cl:in-package #:swank-mcp)

(defun call-named (package name &rest arguments)
  "Call a function of a package that may not be there when this is compiled."
  (apply (fdefinition (find-symbol name package)) arguments))

(defun require-own (name)
  "Load the module NAME that comes with the Lisp.  ASDF, which is asked for modules,
too, would take the occasion to replace itself by a newer version."
  (let (#+sbcl (sb-ext:*module-provider-functions* '(sb-impl::module-provide-contrib)))
    (require name)))

(defun quicklisp-p ()
  (let ((quickload (and (find-package '#:ql) (find-symbol "QUICKLOAD" '#:ql))))
    (and quickload (fboundp quickload))))

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

(defun load-system (name &key (session "default") (token 0) force (debug 1))
  "Load the system NAME, or that which the file of that name defines; with FORCE, also
what is loaded and up to date.  The answer is EVALUATE's, without values."
  (let* ((file (definition-path name))
         (name (if file (pathname-name file) (string-downcase name))))
    (call-registered (make-evaluation :token token :session (ensure-session session)
                                      :code `(load-named-system ,name :force ,force :file ,file)
                                      :system name)
                     "COMMON-LISP-USER" debug)))

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

;;; Which ones has a session loaded?

(defun note-system (session name)
  (setf (session-systems session)
        (cons name (remove name (session-systems session) :test #'string=)))
  (when *evaluation*
    (unless (assoc name (evaluation-loaded *evaluation*) :test #'string=)
      (push (cons name (told-files name)) (evaluation-loaded *evaluation*)))))

(defun registered-systems ()
  "How many systems ASDF has heard of: whether another one was loaded is asked
only when there are more than there were."
  (if (find-package '#:asdf)
      (length (call-named '#:asdf "REGISTERED-SYSTEMS"))
      0))

(defun loaded-systems ()
  (and (find-package '#:asdf)
       (ignore-errors (call-named '#:asdf "ALREADY-LOADED-SYSTEMS"))))

(defvar *known-systems* '() "All that were loaded, as of *REGISTERED*.")
(defvar *registered* 0 "How many systems ASDF knew then.")

(defun know-systems ()
  "What is loaded by now is nobody's."
  (let ((registered (registered-systems)))
    (unless (= registered *registered*)
      (setf *registered* registered
            *known-systems* (loaded-systems)))))

(defun note-new-systems (session)
  "List the systems that were loaded by whatever code, but not those that they
needed.  While another session is at work it is left to the last one."
  (let ((registered (registered-systems)))
    (unless (or (= registered *registered*) (others-work-p session))
      (let* ((loaded (loaded-systems))
             (new (remove-if #'asdf-itself-p
                             (set-difference loaded *known-systems* :test #'string=)))
             (needed (mapcan #'needed-systems new)))
        (setf *registered* registered
              *known-systems* loaded)
        (dolist (name (set-difference new needed :test #'string=))
          (unless (member name (session-systems session) :test #'string=)
            (note-system session name)))))))

(defun note-loaded (session designator)
  "The system DESIGNATOR was loaded: list it, and let stay at a reset what it has
brought into the packages."
  (let ((name (if (and (consp designator) (eq (first designator) 'quote))
                  (second designator)
                  designator)))
    (when (and name (typep name '(or symbol string)))
      (note-system session (string-downcase name))))
  (loading-ended (shiftf (session-before-load session) nil)))

(defun load-system-in (session name load)
  "Call LOAD, which loads the system NAME, and list that among the systems of SESSION."
  (setf (session-before-load session) (before-loading))
  (funcall load)
  (note-loaded session name))

(defun asdf-itself-p (name)
  (member name '("asdf" "uiop" "asdf-package-system") :test #'string=))
