;;;; assign.lisp -- variables that come into being by assignment

(cl:in-package #:swank-mcp)

;;; They are listed like others; but there is no definition of them to evaluate
;;; in a new image, and the bridge tells that they are lost.

(defparameter *assigned-why* "an assignment made it"
  "The bridge knows a variable that is lost by these words.")

(defun note-assignments (session form)
  "(SETF X 1) at a REPL makes a variable, too."
  (when (and (consp form) (eq (first form) 'progn) (ignore-errors (list-length form)))
    (dolist (part (rest form)) (note-assignments session part)))
  (when (and (consp form) (member (first form) '(setf setq))
             (ignore-errors (list-length form)))
    (loop for place in (rest form) by #'cddr
          when (and (symbolp place) place (not (keywordp place))
                    (not (boundp place))
                    (not (eq (symbol-package place) (find-package '#:common-lisp))))
            do (pushnew place (session-assigned session)))))

(defun settle-assignments (evaluation)
  (let ((session (evaluation-session evaluation)))
    (dolist (name (reverse (shiftf (session-assigned session) '())))
      (when (and (boundp name) (not (gethash (cons :variable name) (session-definitions session))))
        (enter-definition session (cons :variable name))
        (note-loss evaluation (cons :variable name) *assigned-why*)))))
