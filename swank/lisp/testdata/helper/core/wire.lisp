;;;; wire.lisp -- what an answer looks like on the wire

(cl:in-package #:swank-mcp)

(defun wire (datum) (with-output-to-string (*standard-output*) (answer datum)))

(define-test wire
  (check (wire '(:a 1 "b" nil t (-20 "c"))) "(:a 1 \"b\" nil t (-20 \"c\"))")
  (check (wire "q\"b\\s") "\"q\\\"b\\\\s\"")
  (let ((*print-base* 16) (*print-length* 1) (*print-level* 0) (*print-case* :capitalize)
        (*print-readably* t) (*print-circle* t) (*print-pretty* t))
    (check (wire '(:key 255 "x" "y")) "(:key 255 \"x\" \"y\")"))
  (check (read-from-string (wire (list (make-string 70000 :initial-element #\"))))
         (list (make-string 70000 :initial-element #\")))
  (check (wire (coerce (list #\a (code-char #xD800) #\b) 'string)) "\"a\\\\u{D800}b\""))
