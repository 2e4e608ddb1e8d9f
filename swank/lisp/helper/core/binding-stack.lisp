;;;; binding-stack.lisp -- garbage collection while the binding stack is exhausted

(cl:in-package #:swank-mcp)

;;; When a thread reaches the guard page of its binding stack, SBCL unprotects that page for the
;;; handlers and protects the page below it.  An access to the page below means that the stack is
;;; unwound, and the guard page is protected again.  But the garbage collector reads the page below
;;; as well.  Then the guard page is protected while the thread is still on it, and the next
;;; binding, in the collector with the world stopped, is a fatal overflow.  So we unprotect the
;;; page below while handlers run and while the error is reported.

(defvar *binding-stack-open* nil
  "True while this thread's page below the guard page is open.")

(defun binding-return-page ()
  "The address of the page below the guard page of this thread's binding stack if the stack
reaches into the guard page, else NIL."
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

(defun protect-page (address protection)
  (sb-alien:alien-funcall
   (sb-alien:extern-alien "mprotect" (function sb-alien:int sb-alien:unsigned-long
                                               sb-alien:unsigned-long sb-alien:int))
   address (sb-alien:extern-alien "os_vm_page_size" sb-alien:int) protection))

(defun call-with-open-binding-stack (function)
  "Call FUNCTION, in which a garbage collection is safe even on the guard page."
  (let ((page (and (not *binding-stack-open*) (binding-return-page))))
    (if page
        (unwind-protect (let ((*binding-stack-open* t))
                          (protect-page page 7) ; all, as SBCL does it
                          (funcall function))
          (protect-page page 0))
        (funcall function))))

(defun open-binding-stack-for-handlers ()
  "For launched images only: call the program's handlers by CALL-WITH-OPEN-BINDING-STACK too."
  (let ((signal 'sbcl:binding-stack-exhausted-error))
    (unless (sbcl:encapsulated-p signal 'swank-mcp-stack)
      (sbcl:encapsulate signal 'swank-mcp-stack #'call-with-open-binding-stack))))
