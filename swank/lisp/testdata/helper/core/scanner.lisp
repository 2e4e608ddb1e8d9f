;;;; scanner.lisp -- the shape of Lisp text, without the reader

(cl:in-package #:swank-mcp)

(defun scanned (text)
  (labels ((plain (datum)
             (cond ((token-p datum) (intern (string-upcase (token-text datum)) '#:keyword))
                   ((consp datum) (mapcar #'plain datum))
                   (t datum))))
    (multiple-value-bind (datum begin end) (scan-datum text 0)
      (list (plain datum) begin end))))

(define-test scanner
  (check (scanned " (a \"b)\\\"\" c) d") '((:a "b)\"" :c) 1 13))
  (check (scanned "; no (
 #| x #| y |# ( |# (f #\\( '(a . b) `(c ,d ,@e))") '((:f :|#\\(| (:a :|.| :b) (:c :d :e)) 26 54))
  (check (first (scanned "(#+sbcl a #-sbcl b #+(and sbcl (not sbcl)) c #+(or no sbcl) d e)")) '(:a :d :e))
  (check (first (scanned "(#.(error \"no\") #'f #:g #(1 2) #p\"x\" #xFF #*101 |a b| #1=h)"))
         '(:|#.| :f :g (:|1| :|2|) "x" :|#XFF| :|#*101| :|\|A B\|| :h))
  (check (scanned ")") '(nil nil 0))
  (check (scanned "(a (b") '((:a (:b)) 0 5))
  (let ((text "(a) ; x
#|(b)|# (c) #-sbcl (d) ) \"e\" (f)"))
    (flet ((nth-form (index) (multiple-value-bind (datum begin end) (top-level-form text index)
                               (and datum (subseq text begin end)))))
      (check (loop for i below 5 collect (nth-form i)) '("(a)" "(c)" "\"e\"" "(f)" nil)))))
