;;;; assign.lisp -- variables that come into being by assignment

(cl:in-package #:swank-mcp)

;;; They are listed like others; but there is no definition of them to evaluate
;;; in a new image, and the bridge tells that they are lost.

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
            do (let ((key (cons :variable place)))
                 (enter-definition session key)
                 (push key (evaluation-assigned *evaluation*))))))

(defun assigned-keys (evaluation)
  (loop for key in (reverse (shiftf (evaluation-assigned evaluation) '()))
        when (boundp (cdr key))
          collect (key-text (evaluation-session evaluation) key)))
