;;;; tracing.lisp -- functions wrapped

(cl:in-package #:swank-mcp)

(defun traced-one (x) (1+ x))

(define-test tracing
  (check (split-names " foo, (setf bar)  p::|a b|,baz ") '("foo" "(setf bar)" "p::|a b|" "baz"))
  (let ((calls '()))
    (call-with-wrapped '(traced-one)
                       (lambda (name function arguments)
                         (push (cons name arguments) calls)
                         (check (null (sb-impl::encapsulation-info (symbol-function name))) nil)
                         (apply function arguments))
                       (lambda () (funcall 'traced-one 1)))
    (check calls '((traced-one 1)))
    (check (ignore-errors (call-with-wrapped '(traced-one) #'list (lambda () (error "out")))) nil)
    (check (sb-impl::encapsulation-info (symbol-function 'traced-one)) nil)))
