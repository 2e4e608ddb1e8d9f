;;;; lookups.lisp -- the time limit of a look-up

(cl:in-package #:swank-mcp)

(define-test lookups
  (check (call-with-time-limit 0.2 (lambda () (loop)) (lambda (lock) (list :late lock))) '(:late nil))
  (check (call-with-time-limit 5 (lambda () :soon) (lambda (lock) (list :late lock))) :soon)
  ;; of one that does not end it is said how long it took, and not what has kept it: that was not seen
  (let* ((*lookup-seconds* 0.3)
         (answer (with-output-to-string (*standard-output*)
                   (call-looking-up "default" (lambda (session) (declare (ignore session)) (loop))))))
    (check (and (search ":TYPE \"TIMEOUT\"" (string-upcase answer))
                (search " and was stopped.\"" answer)
                (not (search "PRINT-OBJECT" answer))
                t)
           t))
  ;; a look-up that waits for a lock names who has it
  #+(and sbcl sb-thread)
  (let* ((door (sb-thread:make-mutex :name "door"))
         (holder (sb-thread:make-thread (lambda () (sb-thread:with-mutex (door) (sleep 1000))) :name "holder")))
    (come-true-p (lambda () (sb-thread:mutex-owner door)) holder)
    (let* ((*lookup-seconds* 0.3)
           (answer (with-output-to-string (*standard-output*)
                     (call-looking-up "default" (lambda (session)
                                                  (declare (ignore session))
                                                  (sb-thread:with-mutex (door) '()))))))
      (check (and (search "It waited for the lock \\\"door\\\". The thread " answer)
                  (search "\\\"holder\\\" holds it." answer)
                  t)
             t))
    (sb-thread:terminate-thread holder)))
