;;;; globals.lisp -- variables of the standard that all sessions of an image share

(cl:in-package #:swank-mcp)

;;; A reset puts them back as they were at the session's beginning.  What a system has pushed while
;;; it was loaded counts as there from the beginning, because the system stays.

(defun beginning-value (session variable)
  (cdr (assoc variable (session-beginning session))))

(defun (setf beginning-value) (value session variable)
  (setf (cdr (assoc variable (session-beginning session))) value))

(defun with-changes (list old new)
  "LIST with what NEW has and OLD has not, and without what OLD has and NEW has not."
  (append (set-difference new old :test #'equal)
          (set-difference list (set-difference old new :test #'equal) :test #'equal)))

(defun systems-came-p ()
  "True if systems have been loaded since NOTE-NEW-SYSTEMS has looked."
  (/= *registered* (registered-systems)))

(defun keep-for-systems (session)
  "Count as there from each session's beginning what has changed in *FEATURES* since SESSION was
compared with it, and in *MODULES*: systems have been loaded."
  (let ((known (session-features session)))
    (dolist (other (with-lock () (loop for other being the hash-values of *sessions* collect other)))
      (unless (eq *features* known)
        (setf (beginning-value other '*features*)
              (with-changes (beginning-value other '*features*) known *features*)))
      (setf (beginning-value other '*modules*) (copy-list *modules*)))
    (setf (session-features session) *features*)))

(defun keep-for-evaluation (evaluation)
  "KEEP-FOR-SYSTEMS if EVALUATION, which has ended, has loaded systems."
  (when (or (evaluation-system evaluation) (systems-came-p))
    (keep-for-systems (evaluation-session evaluation))))

(defun changed-globals (session)
  "The variables of *SHARED-VARIABLES* that are not as at the beginning of SESSION, but for those that
any code changes."
  (loop for (variable . value) in (session-beginning session)
        unless (or (member variable '(*gensym-counter* *random-state*))
                   (equal value (symbol-value variable)))
          collect variable))

(defun restore-globals (session)
  "Put the variables back as they were at the beginning of SESSION.  What *MODULES* names is loaded, so
it stays."
  (loop for (variable . value) in (session-beginning session)
        unless (or (eq variable '*modules*) (equal value (symbol-value variable)))
          do (setf (symbol-value variable) (own-value variable value))))
