;;;; frames.lisp -- backtraces, printed without user code

(cl:in-package #:swank-mcp)

(defclass never-printed () ())

(defmethod print-object ((object never-printed) stream)
  (declare (ignore stream))
  (error "a backtrace must not come here"))

(defun shown (object) (show-form object (find-package '#:swank-mcp)))

(define-test frames
  (check (shown '(f 1 "a" #\b 2.5 nil)) "(F 1 \"a\" #\\b 2.5 NIL)")
  (check (shown ''(a . b)) "'(A . B)")
  (check (shown '(1 2 3 4 5 6 7 8 9 10 11)) "(1 2 3 4 5 6 7 8 9 10 ...)")
  (check (shown '((((((deep))))))) "((((#))))")
  (check (shown (make-instance 'never-printed)) "#<NEVER-PRINTED>")
  (check (shown (list 'f (vector 1 2))) "(F #<VECTOR 2>)")
  (check (shown (let ((l (list 1))) (setf (cdr l) l))) "(1 1 1 1 1 1 1 1 1 1 ...)")
  (check (public-name 'sb-kernel:two-arg-+) '+)
  (check (public-name '(sb-pcl::fast-method f (t))) '(method f (t))))
