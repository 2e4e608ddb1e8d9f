;;;; interrupts-test.lisp -- loaded by helper-test.lisp

(cl:in-package #:swank-mcp)

;;; A thread is left two hundred times while it is in malloc half of the time;
;;; then malloc has no lock held that anybody would wait for.

#+sbcl
(let* ((lefts 0) (endp nil)
       (thread (sb-thread:make-thread
                (lambda ()
                  (loop until endp
                        do (catch 'left
                             (loop (dotimes (i 20)
                                     (sb-alien:free-alien
                                      (sb-alien:make-alien (sb-alien:unsigned 8) 5000)))
                                   (dotimes (i 300)
                                     (setf *random-state* (identity *random-state*)))))
                           (incf lefts))))))
  (dotimes (i 200)
    (interrupt-safely thread (lambda () (ignore-errors (throw 'left nil)))))
  (setf endp t)
  (interrupt-safely thread (lambda () (ignore-errors (throw 'left nil))))
  (loop repeat 500 while (sb-thread:thread-alive-p thread) do (sleep 0.01))
  (check (list (sb-thread:thread-alive-p thread) (< 150 lefts)) '(nil t)))

;;; Foreign code that waits, and foreign code that never ends, is left, too.

#+sbcl
(flet ((left-p (function)
         (let ((thread (sb-thread:make-thread (lambda () (catch 'left (funcall function))))))
           (sleep 0.05)
           (interrupt-safely thread (lambda () (throw 'left :left)))
           (sb-thread:join-thread thread :default nil :timeout 2))))
  (check (left-p (lambda () (sleep 100))) :left)
  (check (left-p (lambda ()
                   (loop (sb-alien:alien-funcall
                          (sb-alien:extern-alien "strlen" (function sb-alien:unsigned-long sb-alien:c-string))
                          (load-time-value (make-string 10000000 :initial-element #\x))))))
         :left))
