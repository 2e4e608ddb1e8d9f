;;;; assign.lisp -- variables that come into being by assignment

(cl:in-package #:swank-mcp)

;;; They are listed like others; but there is no definition of them to evaluate
;;; in a new image, and the bridge tells that they are lost.

(defparameter *assigned-why* "an assignment made it"
  "The bridge knows a variable that is lost by these words.")

(defun note-assignment (session place &optional environment)
  "Remember PLACE if an assignment of it makes a variable."
  (when (and (consp place) (eq (first place) 'symbol-value) (consp (rest place))
             (consp (second place)) (eq (first (second place)) 'quote))
    (setf place (second (second place))))
  (when (and (symbolp place) place (not (keywordp place))
             (not (boundp place))
             (not (eq (symbol-package place) (find-package '#:common-lisp)))
             (not (member place (names-around environment))))
    (with-lock () (pushnew place (session-assigned session)))))

(defun note-assignments (session form)
  "(SETQ X 1) and (SET 'X 1) at a REPL make variables; SETF is noted as it is expanded."
  (when (and (consp form) (ignore-errors (list-length form)))
    (case (first form)
      (progn (dolist (part (rest form)) (note-assignments session part)))
      ((setf setq) (loop for place in (rest form) by #'cddr
                         do (note-assignment session place)))
      (set (when (rest form) (note-assignment session (list 'symbol-value (second form))))))))

(defun settle-assignments (evaluation)
  (let ((session (evaluation-session evaluation)))
    (dolist (name (reverse (with-lock () (shiftf (session-assigned session) '()))))
      (when (and (boundp name) (not (gethash (cons :variable name) (session-definitions session))))
        (enter-definition session (cons :variable name))
        (note-loss evaluation (cons :variable name) *assigned-why*)))))
