;;;; user-code.lisp -- reading and evaluating what the user wrote

(cl:in-package #:swank-mcp)

;;; Each of these functions is a frame of its own: a backtrace is cut where it comes to
;;; one of them (see COLLECT-FRAMES), because what follows is ours.  END-OF-FRAME keeps
;;; the compiler from making a tail call of what is called in them.

(declaim (notinline evaluate-form read-form do-work end-of-frame))

(defun end-of-frame () nil)

(defun evaluate-form (form &optional frame)
  "EVAL, in FRAME if there is one, as a frame of its own."
  (multiple-value-prog1 (if frame (eval-in-frame form frame) (eval form))
    (end-of-frame)))

(defun read-form (stream)
  "READ, as a frame of its own; STREAM itself at its end."
  (multiple-value-prog1 (read stream nil stream)
    (end-of-frame)))

#+sbcl
(defun eval-in-frame (form frame)
  (funcall (or (handler-case (sbcl:preprocess-for-eval form (sbcl:frame-code-location frame))
                 (sbcl:debug-condition () nil))
               (lambda (frame) (declare (ignore frame)) (eval form)))
           frame))

#-sbcl
(defun eval-in-frame (form frame)
  (declare (ignore frame))
  (eval form))

(defun do-work (function &rest arguments)
  "Call FUNCTION, which does something else than evaluating, as a frame of its own."
  (multiple-value-prog1 (apply function arguments)
    (end-of-frame)))
