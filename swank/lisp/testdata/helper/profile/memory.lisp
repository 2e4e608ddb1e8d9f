;;;; memory.lisp -- what fills the heap

(cl:in-package #:swank-mcp)

(define-test memory
  (check (multiple-value-bind (kinds generations bytes end) (walk-heap 60)
           (list (plusp (car (gethash 'cons kinds))) (= bytes (reduce #'+ generations))
                 end (< 1/2 (/ bytes (heap-used)) 2)))
         '(t t nil t))
  (check (nth-value 3 (walk-heap 0)) :time)
  (let ((thread (sb-thread:make-thread (lambda () (sleep 100)) :name "to be ended")))
    (come-true-p (lambda () (not (eql 0 (thread-number thread)))) thread) ; Swank 2.30 has the system's, once it runs
    (check (list (thread-role thread) (eq thread (find-thread-named "To Be Ended"))
                 (eq thread (find-thread-named (format nil "~D" (thread-number thread)))))
           '(:user t t))
    (check (end-thread thread) "It was ended; its cleanup forms have run.")
    (check (handler-case (find-thread-named "to be ended") (lookup-failure (failure) (failure-type failure)))
           "UNKNOWN-THREAD"))
  (check (thread-role (sb-thread:main-thread)) :main))

(defstruct walked (slot 0))

(define-test walks-count-their-work
  (when (processor-microseconds (system-thread-number)) ; it is known
    (let ((begun (own-microseconds)))
      (sleep 1)
      (check (< (- (own-microseconds) begun) 500000) t)))
  (let ((*walk-microseconds* -1))
    (check (nth-value 1 (obsolete-objects '(walked))) t))
  (let ((*walk-seconds* -1))
    (check (fourth (multiple-value-list (walk-heap *walk-seconds*))) :time)))
