;;;; disassemble.lisp -- the lines of a disassembly

(cl:in-package #:swank-mcp)

(define-test disassemble
  (check (lines-of (format nil "a  ~%~%b")) '("a" "b")))
