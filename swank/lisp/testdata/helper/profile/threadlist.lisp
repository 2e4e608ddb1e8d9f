;;;; threadlist.lisp -- threads shown and ended

(cl:in-package #:swank-mcp)

;;; Threads whose printer is set up oddly

(defun sleep-oddly ()
  (let ((*print-base* 2) (*print-radix* t) (*print-case* :downcase) (*print-readably* t))
    (sleep 3600)))

(define-test oddly-printing-threads
  (let ((thread (sb-thread:make-thread #'sleep-oddly :name "odd printer")))
    (come-true-p (lambda () (asleep-p thread)) thread)
    (let ((frames (frames-of-thread thread 5)))
      (check (consp frames) t)
      (check (equal frames (mapcar #'string-upcase frames)) t))
    (end-thread thread)))
