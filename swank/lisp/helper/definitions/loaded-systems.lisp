;;;; loaded-systems.lisp -- the systems that a session has loaded

(cl:in-package #:swank-mcp)

(defvar *known-systems* '() "The systems that were loaded when ASDF knew *REGISTERED* of them.")
(defvar *registered* 0 "How many systems ASDF knew when *KNOWN-SYSTEMS* was set.")

(defun note-known-systems ()
  "Systems already loaded belong to no session."
  (let ((registered (registered-systems)))
    (unless (= registered *registered*)
      (setf *registered* registered
            *known-systems* (loaded-systems)))))

(defun note-system (session name)
  (setf (session-systems session)
        (cons name (remove name (session-systems session) :test #'string=)))
  (when *evaluation*
    (unless (assoc name (evaluation-loaded *evaluation*) :test #'string=)
      (push (cons name (unfindable-files name)) (evaluation-loaded *evaluation*)))))

(defun note-new-systems (session)
  "Add the systems that were loaded by any code to those of SESSION, of the ones that they needed only
the project's own.  While another session evaluates, the last to end does this."
  (let ((registered (registered-systems)))
    (unless (or (= registered *registered*) (others-work-p session))
      (let* ((loaded (loaded-systems))
             (new (remove-if #'asdf-itself-p
                             (set-difference loaded *known-systems* :test #'string=)))
             (needed (remove-if (lambda (name)
                                  (and (string= name (primary-name name)) (project-system-p name)))
                                (mapcan #'direct-dependencies new))))
        (setf *registered* registered
              *known-systems* loaded)
        (dolist (name (set-difference new needed :test #'string=))
          (unless (member name (session-systems session) :test #'string=)
            (note-system session name)))))))

(defun note-loaded (session designator)
  "Note that SESSION has loaded the system DESIGNATOR; what that has added to packages joins the
baseline."
  (let ((name (unquoted designator)))
    (when (and name (typep name '(or symbol string)))
      (note-system session (designated-name name))))
  (loading-ended (shiftf (session-before-load session) nil)))

(defun load-system-in (session load)
  "Call LOAD, which loads a system and returns its name, and note that SESSION has loaded it."
  (setf (session-before-load session) (before-loading))
  (note-loaded session (funcall load)))
