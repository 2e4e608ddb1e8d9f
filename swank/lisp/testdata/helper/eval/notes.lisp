;;;; notes.lisp -- compiler notes and their places

(cl:in-package #:swank-mcp)

(defun source-at (text) (make-source text))

(defun noted (text &rest arguments)
  "(SEVERITY LINE COLUMN) of the notes about TEXT, and whether it was loaded."
  (let ((report (apply #'report-of #'compile-source :text text arguments)))
    (list (loop for (severity nil line column) in (getf report :notes)
                collect (list severity line column))
          (getf report :loaded))))

(define-test notes
  (check (coerce (form-starts (source-at (format nil "; a~%(b) ~%#| c |# (d)~%#+nope (e) :f"))) 'list)
         '(4 9 21))
  (check (source-line (source-at (format nil "a~%b~C~%c" #\return)) 2) "b")
  (check (source-line (source-at "a") 3) "")
  (check (subform-position (source-at "(a) (b (c d) (e (f)))") '(1 2 1)) 16)
  (check (subform-position (source-at "(a) (b \"é\" #.(error \"read\") (f))") '(1 3)) 28)
  (check (subform-position (source-at "(a) (b") '(7 2)) nil)
  (check (number-after "line: " "in form at Line: 12, column: 0") 12)
  (check (noted "(defun build-test-1 (x) x)") '(() t))
  (check (noted (format nil "(defun build-test-2 (x)~%  (build-test-none x))"))
         '((("style-warning" 2 3)) t))
  (check (noted (format nil "~%(defun build-test-3 (x)~%  (let ((y 1 2)) x y))"))
         '((("error" 3 9) ("style-warning" 2 22)) nil))
  (check (noted (format nil "(car ())~% (list 'a")) '((("error" 2 2)) nil))
  (check (noted "(list #<a>)") '((("error" 1 9)) nil))
  (check (noted "(defun build-test-4 () 1)" :load nil) '(() nil))
  (check (list (fboundp 'cl-user::build-test-1) (fboundp 'cl-user::build-test-4))
         (list (fdefinition 'cl-user::build-test-1) nil)))
