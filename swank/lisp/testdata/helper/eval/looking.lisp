;;;; looking.lisp -- which forms surely change nothing

(cl:in-package #:swank-mcp)

(defvar *looked-at* (list 1))
(define-symbol-macro looked-at-first (car *looked-at*))
(define-symbol-macro looked-at-less (pop *looked-at*))

(define-test looking
  (flet ((look (form) (and (looks-only-p form) t)))
    (dolist (form '(1 "a" :a nil *looked-at* no-such-variable looked-at-first 'a '(pop *looked-at*) #'car
                    #'no-such-function (car *looked-at*) (list (gethash 1 *looked-at*))
                    (let ((a 1) b) (declare (ignorable b)) (+ a 1)) (cond ((car *looked-at*) 1) (t 2))
                    (case (car *looked-at*) ((1 2) 1) (t 2)) (mapcar #'car *looked-at*)
                    (mapcar (lambda (x y) (* x y)) *looked-at* *looked-at*) (find 1 *looked-at* :key #'1+)
                    (find-if #'evenp *looked-at* :key nil :from-end t) (reduce #'+ *looked-at* :initial-value 0)
                    (print *looked-at*) (format t "~a~%" *looked-at*) (slot-value *looked-at* 'a)))
      (check (list form (look form)) (list form t)))
    (dolist (form '((f) (setf *looked-at* 1) (push 1 *looked-at*) (car (f)) looked-at-less (sort *looked-at* #'<)
                    (mapcar 'f *looked-at*) (mapcar #'f *looked-at*) (mapcar *looked-at* *looked-at*)
                    (mapcar (lambda (x) (f x)) *looked-at*) (mapcar (lambda (&optional (x (f))) x) *looked-at*)
                    (find 1 *looked-at* :key 'f) (find 1 *looked-at* (car *looked-at*) 'f)
                    (find-if #'evenp *looked-at* :key 'f) (funcall 'f) (apply #'car *looked-at*)
                    (print *looked-at* *standard-output*) (let ((*standard-output* *looked-at*)) (print 1))
                    (format t "~/f/" 1) (format nil *looked-at* 1) (format t "~?" *looked-at* nil)
                    (case (f) (1 2)) (case 1 (1 (f))) (cond ((f) 1)) (let ((a (f))) a) (list . 1) ((lambda () 1))
                    (defvar *x* 1) (in-package :cl-user) (gensym) (random 10) (intern "A") (nreverse *looked-at*)))
      (check (list form (look form)) (list form nil)))
    (check (look '#1=(list . #1#)) nil))
  ;; what reads by code of the program's
  (let ((session (ensure-session "looking")))
    (check (mapcar (lambda (code) (and (reads-plainly-p session code) t))
                   '("(car *a*)" "#'car" "(list #.(f))" "#1=(a . #1#)" "#:a" "#"))
           '(t t nil nil t t))))
