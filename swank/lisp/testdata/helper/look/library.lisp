;;;; library.lisp -- guides: README, calls in tests, exports by text, pages

(cl:in-package #:swank-mcp)

(defun calls-shown (text &rest names)
  "The texts of the forms of TEXT that would be shown for calls of NAMES."
  (let ((counts (make-hash-table :test 'equal)) (found '()))
    (dolist (name names) (setf (gethash name counts) 0))
    (multiple-value-bind (form begin end) (scan-datum text 0)
      (declare (ignore form))
      (calls-within text begin end counts
                    (lambda (from to names) (declare (ignore names)) (push (subseq text from to) found)) t))
    (values (reverse found) (loop for name in names collect (gethash name counts)))))

(define-test readme-paragraphs
  (check (paragraphs "# Title
[![build](x)](y)

Shop
====

It sells
things.
```
")
         '(("It sells" "things.")))
  (check (paragraphs "") '())
  (check (and (markup-line-p "#+TITLE: x") t) t)
  (check (and (markup-line-p "* It is fast.") t) nil))

(define-test sentences
  (check (first-sentence "Adds. Then more.") "Adds.")
  (check (first-sentence (format nil "Adds, i.e. sums,~% them up. Then more.")) "Adds, i.e. sums, them up.")
  (check (first-sentence (format nil "No period~%~%more. text")) "No period")
  (check (first-sentence "1.5 is a number") "1.5 is a number"))

(define-test calls-in-tests
  ;; the outermost short form, not the call alone
  (check (calls-shown "(test adding (is (= 3 (add 1 2))))" "ADD") '("(test adding (is (= 3 (add 1 2))))"))
  ;; in a definition, what is inside
  (check (calls-shown "(defun check-it () (assert (= 3 (shop:add 1 2))))" "ADD") '("(assert (= 3 (shop:add 1 2)))"))
  ;; no calls: bindings, quoted lists, strings, comments, other names
  (check (multiple-value-list
          (calls-shown "(let ((add 1)) '(add 1) \"(add 2)\" #|(add 3)|# (added 4) (foo add))" "ADD"))
         '(() (0)))
  ;; each call is counted
  (check (nth-value 1 (calls-shown "(progn (add 1 (add 2 3)) (add 4 5))" "ADD" "SUB")) '(3 0))
  (check (outdented "  (f 1
     2
 3)" 2 17) "(f 1
   2
3)")
  (check (list (and (names-tests-p "foo-tests") t) (and (names-tests-p "t") t) (and (names-tests-p "chartest") t))
         '(t t nil)))

(define-test written-exports
  (check (written-exports (scan-datum "(uiop:define-package :shop (:use :cl) (:export #:add \"SUB\" |lower| . #.(x)))" 0))
         '("ADD" "SUB" "|LOWER|"))
  (flet ((written (text)
           (let ((form (scan-datum text 0)))
             (written-definition text form 0 (length text)))))
    (check (written "(defun add (a &optional (b 1)) \"Adds.\" (+ a b))")
           '("ADD" "Functions" " (a &optional (b 1))" ": Adds."))
    ;; a string that is the value is no documentation
    (check (written "(defun name () \"Shop\")") '("NAME" "Functions" " ()" ""))
    (check (written "(defclass till () () (:documentation \"Has money.\"))") '("TILL" "Classes" "" ": Has money."))
    (check (written "(defstruct (coin (:copier nil)) \"Money.\" value)") '("COIN" "Structures" "" ": Money."))
    (check (written "(defvar *rate* 1 \"The tax.\")") '("*RATE*" "Variables" "" ": The tax."))
    (check (written "(in-package :shop)") nil)
    (check (written "(defun)") nil)))

(define-test pages
  (let ((lines (loop for i below 300 collect (list (format nil "- NAME-~D~60T." i) (format nil "NAME-~D" i)))))
    (flet ((page (count) (page-answer (list* (list "About" "a line") (list (cons "Functions" (first-few lines count)))))))
      ;; it fits: all of it, once
      (check (getf (page 3) :whole) nil)
      (check (length (rest (second (getf (page 3) :sections)))) 3)
      ;; it does not: as many lines as fit, the names of the others; and all of it
      (let ((page (page 300)))
        (check (length (rest (second (getf page :whole)))) 300)
        (check (<= (page-length (getf page :sections)) *page*) t)
        (check (first (getf page :sections)) '("About" "a line"))
        (check (and (search "NAME-299" (first (last (second (getf page :sections))))) t) t)))))
