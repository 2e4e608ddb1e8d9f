;;;; evaluate.lisp -- nothing of the image is changed by what a session assigns

(cl:in-package #:swank-mcp)

(define-test evaluate
  (let ((before (list *print-base* *readtable* (readtable-case *readtable*) *package*)))
    (check (first-value "(setf *print-base* 16 *read-base* 8)") "8")
    (check (first-value "(+ 17 1)") "10")          ; octal 17 + 1, printed in base 16
    (check (first-value "(setf *read-base* 12 *print-base* 10)") "10") ; both were octal: 10 and 8
    (evaluated "(set-macro-character #\\! (lambda (s c) (declare (ignore s c)) :bang))")
    (check (first-value "!") ":BANG")
    (check (first-value "(setf (readtable-case *readtable*) :preserve)") ":PRESERVE")
    (check (first-value "(quote abc)") "ABC")
    (check (list *print-base* *readtable* (readtable-case *readtable*) *package*) before)
    (check (get-macro-character #\!) nil))
  ;; a condition without its standard slots is reported as itself
  (check (getf (getf (evaluated "(error 'end-of-file)") :error) :type) "END-OF-FILE")
  (check (getf (getf (evaluated "(error 'undefined-function)") :error) :type) "UNDEFINED-FUNCTION")
  (check (first-value "(setf *read-suppress* t)") "T")
  (check (first-value "(+ 1 2)") "3")
  (check (getf (getf (evaluated "(unwind-protect (sb-ext:exit) (error \"x\"))") :error) :type)
         "SIMPLE-ERROR")
  (check (list sb-sys:*exit-in-progress* (sb-thread:mutex-owner sb-impl::*exit-lock*)) '(nil nil))
  (check (length (getf (evaluated "(dotimes (i 5000) (warn \"w~d\" i))") :warnings)) 201)
  (check (getf (evaluated "(signal 'warning)") :warnings) nil)
  (evaluated "(defmethod print-object :around ((o structure-object) s) (write-string \"<<\" s) (call-next-method))")
  (check (first-value "(+ 1 2)") "3"))
