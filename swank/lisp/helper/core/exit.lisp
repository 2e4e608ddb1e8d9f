;;;; exit.lisp -- code that asks to end the image or the thread of an evaluation is refused

(cl:in-package #:swank-mcp)

(defun call-refusing-exit (function refuse &optional (thread "the thread that evaluates for this session"))
  "Call FUNCTION.  If it asks the image or this thread, which THREAD describes, to end, undo that
and call REFUSE with what was to end.  A request of another thread is not refused."
  (let ((exit-timeout sb-ext:*exit-timeout*))
    (unwind-protect
         (catch-ending 'sbcl:%abort-thread
                       (lambda ()
                         (catch-ending 'sbcl:%end-of-the-world
                                       function
                                       (lambda ()
                                         (forget-exit exit-timeout)
                                         (funcall refuse "the Lisp image"))))
                       (lambda ()
                         (when (somebody-exits-p) (sb-thread:abort-thread))
                         (funcall refuse thread)))
      ;; a cleanup form of the user's may have made another non-local exit
      (forget-exit exit-timeout))))

(defun catch-ending (tag function refuse)
  (let ((returned nil))
    (multiple-value-prog1
        (catch tag
          (multiple-value-prog1 (funcall function) (setf returned t)))
      (unless returned (funcall refuse)))))

(defun somebody-exits-p ()
  (let ((owner (sb-thread:mutex-owner sbcl:*exit-lock*)))
    (and owner (not (eq owner sb-thread:*current-thread*)))))

(defun forget-exit (timeout)
  "Undo an EXIT that this thread has begun."
  (when (sb-thread:holding-mutex-p sbcl:*exit-lock*)
    (setf sb-sys:*exit-in-progress* nil
          sb-ext:*exit-timeout* timeout)
    (sb-thread:release-mutex sbcl:*exit-lock*)))
