;;;; look-test.lisp -- names, inert text, sources and look-ups; loaded by helper-test.lisp

(cl:in-package #:swank-mcp)

;;; names.lisp: taken apart as the reader would

(defun parsed (text &optional (case :upcase))
  (handler-case (multiple-value-list (parse-name text case))
    (lookup-failure (failure) (failure-type failure))))
(check (parsed "foo") '("FOO" nil 0))
(check (parsed " 'Foo ") '("FOO" nil 0))
(check (parsed "#'foo") '("FOO" nil 0))
(check (parsed "#:foo") '("FOO" nil 0))
(check (parsed ":foo") '("FOO" "KEYWORD" 2))
(check (parsed "a:b") '("B" "A" 1))
(check (parsed "a::|b:c| ") '("b:c" "A" 2))
(check (parsed "|a b|:c") '("C" "a b" 1))
(check (parsed "f\\oo|x|") '("FoOx" nil 0))
(check (parsed "||") '("" nil 0))
(check (parsed "Foo" :preserve) '("Foo" nil 0))
(check (parsed "Foo" :downcase) '("foo" nil 0))
(check (parsed "Foo" :invert) '("Foo" nil 0))
(check (parsed "foo" :invert) '("FOO" nil 0))
(check (parsed "FOO" :invert) '("foo" nil 0))
(dolist (bad '("" "  " "a b" "(f)" "a:::b" "a:b:c" "a:" "a::" ":" "|a" "a\\" "\"s\"" "a;b"))
  (check (parsed bad) "INVALID-NAME"))
(check (setf-place-name "(setf foo)") "foo")
(check (setf-place-name " #'(SETF  p::|x y|) ") " p::|x y|")
(check (setf-place-name "setf foo") nil)

;; whatever a symbol is called, its spelling finds it, and finding interns nothing
(defpackage "names Test" (:use) (:export "Out er" "PLAIN"))
(let ((session (ensure-session "names")))
  (dolist (name '("PLAIN" "low" "Out er" "a:b" "pipe|bar" "back\\slash" "" "1" "." "x'y" "#hash"))
    (let ((symbol (intern name "names Test")))
      (check (find-named-symbol (qualified-spelling symbol) session) symbol)
      (check (find-named-symbol (bare-spelling name) session "names Test") symbol)))
  (flet ((trouble (text &optional package)
           (handler-case (find-named-symbol text session package)
             (lookup-failure (failure) (list (failure-type failure) (failure-names failure))))))
    (check (first (second (trouble "cra"))) "COMMON-LISP:CAR")
    (check (first (trouble "no-such-symbol-anywhere")) "SYMBOL-NOT-FOUND")
    (check (trouble "|names Test|:|low|") '("SYMBOL-NOT-EXTERNAL" ("|names Test|::|low|")))
    (check (trouble "swnk::defslimefun") '("PACKAGE-ERROR" ("SWANK::DEFSLIMEFUN")))
    (check (trouble "car" "no-such-package") '("PACKAGE-ERROR" ()))
    (check (trouble "defslimefun") '("SYMBOL-NOT-FOUND" ("SWANK::DEFSLIMEFUN")))
    (check (find-symbol "NO-SUCH-SYMBOL-ANYWHERE" "COMMON-LISP-USER") nil)))

;;; inert.lisp

(defun inert (text)
  (labels ((plain (datum)
             (cond ((token-p datum) (intern (string-upcase (token-text datum)) '#:keyword))
                   ((consp datum) (mapcar #'plain datum))
                   (t datum))))
    (multiple-value-bind (datum begin end) (inert-read text 0)
      (list (plain datum) begin end))))
(check (inert " (a \"b)\\\"\" c) d") '((:a "b)\"" :c) 1 13))
(check (inert "; no (
 #| x #| y |# ( |# (f #\\( '(a . b) `(c ,d ,@e))") '((:f :|#\\(| (:a :|.| :b) (:c :d :e)) 26 54))
(check (first (inert "(#+sbcl a #-sbcl b #+(and sbcl (not sbcl)) c #+(or no sbcl) d e)")) '(:a :d :e))
(check (first (inert "(#.(error \"no\") #'f #:g #(1 2) #p\"x\" #xFF #*101 |a b| #1=h)"))
       '(:|#.| :f :g (:|1| :|2|) "x" :|#XFF| :|#*101| :|\|A B\|| :h))
(check (inert ")") '(nil nil 0))
(check (inert "(a (b") '((:a (:b)) 0 5))
(let ((text "(a) ; x
#|(b)|# (c) #-sbcl (d) ) \"e\" (f)"))
  (flet ((nth-form (index) (multiple-value-bind (datum begin end) (top-level-form text index)
                             (and datum (subseq text begin end)))))
    (check (loop for i below 5 collect (nth-form i)) '("(a)" "(c)" "\"e\"" "(f)" nil))))

;;; source.lisp

(defun located (text index name &rest arguments)
  (multiple-value-bind (begin end) (apply #'locate-form text index name arguments)
    (and begin (subseq text begin end))))
(let ((text "(progn (defun a () 1) (defmethod (setf b) (x) x)) (list 'c) (defun c ()) (defstruct s y)"))
  (check (located text 0 "A") "(defun a () 1)")
  (check (located text 0 "B") "(defmethod (setf b) (x) x)")
  (check (located text nil "B") "(defmethod (setf b) (x) x)")
  (check (located text 1 "C") "(defun c ())")         ; edited since
  (check (located text 3 "S-Y" :trusted t) "(defstruct s y)")
  (check (located text 3 "S-Y") nil)
  (check (located text 3 "PRINT-OBJECT" :words '("S")) "(defstruct s y)")
  (check (located text 99 "D") nil))
(let ((text "(defmethod m ((x cons)) 1) (defmethod m ((x string)) 2)"))
  (check (located text 0 "M" :words '("STRING")) "(defmethod m ((x string)) 2)")
  (check (located text 1 "M" :words '("CONS")) "(defmethod m ((x cons)) 1)"))

;;; the time limit

(check (call-with-time-limit 0.2 (lambda () (loop)) (lambda (lock) (list :late lock))) '(:late nil))
(check (call-with-time-limit 5 (lambda () :soon) (lambda (lock) (list :late lock))) :soon)

;; a look-up that waits for a lock names who has it
#+(and sbcl sb-thread)
(let* ((door (sb-thread:make-mutex :name "door"))
       (holder (sb-thread:make-thread (lambda () (sb-thread:with-mutex (door) (sleep 1000))) :name "holder")))
  (sleep 0.1)
  (let* ((*lookup-seconds* 0.3)
         (answer (with-output-to-string (*standard-output*)
                   (call-looking-up "default" (lambda (session)
                                                (declare (ignore session))
                                                (sb-thread:with-mutex (door) '()))))))
    (check (and (search "It waited for the lock \\\"door\\\". The thread " answer)
                (search "\\\"holder\\\" holds it." answer)
                t)
           t))
  (sb-thread:terminate-thread holder))
