;;;; user-code.lisp -- reading and evaluating what the user wrote

(cl:in-package #:swank-mcp)

;;; A backtrace ends at the frame of one of these functions (see COLLECT-FRAMES), because the
;;; frames beyond it are the helper's.  END-OF-FRAME keeps the compiler from making a tail call.

(declaim (notinline evaluate-form read-form do-work end-of-frame))

(defun end-of-frame () nil)

(defun evaluate-form (form &optional frame)
  "EVAL, in FRAME if there is one."
  (multiple-value-prog1 (if frame (eval-in-frame form frame) (eval form))
    (end-of-frame)))

(defun read-form (stream)
  "READ; at the end of STREAM, STREAM itself."
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
  "Call FUNCTION, which does other work than evaluating."
  (multiple-value-prog1 (apply function arguments)
    (end-of-frame)))
