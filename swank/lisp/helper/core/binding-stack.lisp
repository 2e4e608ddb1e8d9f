;;;; binding-stack.lisp -- what has used up the binding stack, and garbage collection

(cl:in-package #:swank-mcp)

;;; When a thread reaches the guard page of its binding stack, SBCL opens that for
;;; the handlers, and protects the page below it, to notice by the first access to
;;; that one that the stack is unwound.  But the garbage collector reads it, too: the
;;; guard page is protected again although the thread is on it, and its next binding,
;;; in the collector's own code and with the world stopped, is an overflow, from which
;;; nothing comes back.  So that page is open while handlers run and the error is told.

#+(and sbcl sb-thread)
(defvar *binding-stack-open* nil
  "True while this thread's page below the guard page is open.")

#+(and sbcl sb-thread)
(defun binding-return-page ()
  "The address of the page below the guard page of this thread's binding stack, if
the stack ends on the guard page, else NIL."
  (let* ((page (sb-alien:extern-alien "os_vm_page_size" sb-alien:int))
         (bottom (and sbcl:thread-binding-stack-start-slot
                      (sbcl:current-thread-offset-sap sbcl:thread-binding-stack-start-slot)))
         (top (sbcl:binding-stack-pointer-sap)))
    (when (and bottom top)
      (let* ((start (sb-sys:sap-int bottom))
             (used (- (sb-sys:sap-int top) start))
             (guard (- (* 1024 1024) (* 2 page)))) ; BINDING_STACK_SIZE is a constant of SBCL's
        (and (< guard used (+ guard page))
             (+ start guard (- page)))))))

#+(and sbcl sb-thread)
(defun protect-page (address protection)
  (sb-alien:alien-funcall
   (sb-alien:extern-alien "mprotect" (function sb-alien:int sb-alien:unsigned-long
                                               sb-alien:unsigned-long sb-alien:int))
   address (sb-alien:extern-alien "os_vm_page_size" sb-alien:int) protection))

(defun call-with-open-binding-stack (function)
  "Call FUNCTION so that it may collect garbage, however much of the binding stack is
used."
  #+(and sbcl sb-thread)
  (let ((page (and (not *binding-stack-open*) (binding-return-page))))
    (if page
        (unwind-protect (let ((*binding-stack-open* t))
                          (protect-page page 7) ; all, as SBCL does it
                          (funcall function))
          (protect-page page 0))
        (funcall function)))
  #-(and sbcl sb-thread) (funcall function))

(defun open-binding-stack-for-handlers ()
  "For launched images only: have handlers of the program's called like that, too."
  #+(and sbcl sb-thread)
  (let ((signal 'sbcl:binding-stack-exhausted-error))
    (unless (sbcl:encapsulated-p signal 'swank-mcp-stack)
      (sbcl:encapsulate signal 'swank-mcp-stack #'call-with-open-binding-stack))))
