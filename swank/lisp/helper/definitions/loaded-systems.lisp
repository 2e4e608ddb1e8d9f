;;;; loaded-systems.lisp -- the systems that a session has loaded

(cl:in-package #:swank-mcp)

(defvar *known-systems* '() "All that were loaded, as of *REGISTERED*.")
(defvar *registered* 0 "How many systems ASDF knew then.")

(defun know-systems ()
  "What is loaded by now is nobody's."
  (let ((registered (registered-systems)))
    (unless (= registered *registered*)
      (setf *registered* registered
            *known-systems* (loaded-systems)))))

;;; Which ones has a session loaded?

(defun note-system (session name)
  (setf (session-systems session)
        (cons name (remove name (session-systems session) :test #'string=)))
  (when *evaluation*
    (unless (assoc name (evaluation-loaded *evaluation*) :test #'string=)
      (push (cons name (told-files name)) (evaluation-loaded *evaluation*)))))

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
