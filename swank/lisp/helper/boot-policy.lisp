;;;; boot-policy.lisp - the second part of boot.lisp: errors and stack overflows in background
;;;; threads of a launched image, and the symbols that loading Swank leaves in COMMON-LISP-USER.

(in-package :swank-mcp-boot)

;;;; Errors in background threads

(defvar *report-lock* (sb-thread:make-mutex :name "swank-mcp report"))

(defvar *guarded* nil
  "True in threads made by MAKE-THREAD-WITH-GUARD.")

(defun report-background-error (condition &key (backtrace t))
  (let ((text (with-output-to-string (out)
                (format out "~&; error in thread ~S: ~A~%"
                        (sb-thread:thread-name sb-thread:*current-thread*)
                        (condition-text condition))
                (when backtrace
                  (ignore-errors
                   (let ((*print-length* 5) (*print-level* 3))
                     (sb-debug:print-backtrace :stream out :count 12
                                               :print-thread nil)))))))
    (sb-thread:with-mutex (*report-lock*)
      ;; Past SB-SYS:*STDERR*: an evaluation may flush that at the same time, and then both write
      ;; what is in its buffer.
      (let ((octets (sb-ext:string-to-octets text :external-format '(:utf-8 :replacement #\?)))
            (start 0))
        (loop while (< start (length octets))
              do (incf start (or (sb-unix:unix-write 2 octets start (- (length octets) start))
                                 (return))))))))

(defun background-debugger (condition hook)
  "The global value of SB-EXT:*INVOKE-DEBUGGER-HOOK*.  Threads in which Swank evaluates bind
their own.  Nobody could answer a debugger in the others, so an error there is reported on
standard error and ends its thread.  An exhausted stack is reported after it is unwound: printing
needs more stack than is left, and a second overflow is fatal."
  (declare (ignore hook))
  (cond ((typep condition 'sb-sys:interactive-interrupt) ; SIGINT
         (continue condition))
        ((eq sb-thread:*current-thread* (sb-thread:main-thread))
         (ignore-errors (report-background-error condition))
         (throw 'idle nil))
        ((and *guarded* (typep condition 'storage-condition))
         (throw 'storage-used-up condition))
        (t
         (ignore-errors (report-background-error condition))
         (sb-thread:abort-thread))))

(defun protect-control-stack ()
  "Put the guard page of this thread's control stack back in place.

A thread that overflowed its stack and then ended without touching the page above the guard page
leaves the guard page unprotected, and SBCL 2.2.9 gives the stack to another thread as it is: the
next overflow in it is fatal (\"control_stack_guard_page_protected not NIL\"; later versions see to
it).  A write to that page makes the runtime clear and protect the guard page.  Without an overflow
it writes what is there to a part of our stack that is not in use."
  #+sb-thread
  (let ((offset (swank-symbol "CURRENT-THREAD-OFFSET-SAP" :sb-vm))
        (slot (swank-symbol "THREAD-CONTROL-STACK-START-SLOT" :sb-vm)))
    (when (and offset slot) ; a later SBCL may have neither
      (let ((page (sb-sys:int-sap
                   (+ (sb-sys:sap-int (funcall offset (symbol-value slot)))
                      (* 2 (sb-alien:extern-alien "os_vm_page_size"
                                                  sb-alien:int))))))
        (setf (sb-sys:sap-ref-8 page 0) (sb-sys:sap-ref-8 page 0)))))
  nil)

(defvar *start-clean* nil
  "True while threads are started that are to mask no signal, although their maker does.")

(defun unmask-signals ()
  (let ((none (make-array 128 :element-type '(unsigned-byte 8) :initial-element 0))) ; a sigset_t
    (sb-sys:with-pinned-objects (none)
      (sb-alien:alien-funcall
       (sb-alien:extern-alien "pthread_sigmask"
                              (function sb-alien:int sb-alien:int sb-sys:system-area-pointer
                                        sb-sys:system-area-pointer))
       (+ 2 #-linux 1) (sb-sys:vector-sap none) (sb-sys:int-sap 0))))) ; SIG_SETMASK

(defun call-starting-clean (function)
  (let ((*start-clean* t))
    (funcall function)))

(defun make-thread-with-guard (make-thread function &rest keys)
  "Around SB-THREAD:MAKE-THREAD: PROTECT-CONTROL-STACK after FUNCTION, which may have handled an
overflow, or which BACKGROUND-DEBUGGER has ended.  A cleanup form cannot do this: it would run on
the very page that is to be protected."
  (let ((function (coerce function 'function))
        (clean *start-clean*))
    (apply make-thread
           (lambda (&rest arguments)
             (when clean (unmask-signals))
             (block run
               (let ((condition
                       (catch 'storage-used-up
                         (let ((*guarded* t))
                           (return-from run
                             (multiple-value-prog1 (apply function arguments)
                               (protect-control-stack)))))))
                 (protect-control-stack)
                 (ignore-errors
                  (report-background-error condition :backtrace nil))
                 (sb-thread:abort-thread))))
           keys)))

(defun set-where-bound (value &rest names)
  (dolist (name names)
    (let ((symbol (swank-symbol name)))
      (when (and symbol (boundp symbol))
        (setf (symbol-value symbol) value)))))

(defun install-policy ()
  "Set the global state of a launched image that differs from SBCL's or Swank's default.
- Unhandled errors outside of evaluations end their thread, not the image,
  and open no debugger: BACKGROUND-DEBUGGER.
- Threads repair their stack at their end: MAKE-THREAD-WITH-GUARD.
- Swank does not install its debugger globally (*GLOBAL-DEBUGGER*), does not
  keep a printed copy of each message (*ENABLE-EVENT-HISTORY*), and does not
  send indentation tables that nobody reads (*CONFIGURE-EMACS-INDENTATION*).
- Swank's log of connections (*LOG-OUTPUT*) does not mix with the output of
  the user's programs on standard error."
  (setf (sb-ext:symbol-global-value 'sb-ext:*invoke-debugger-hook*)
        'background-debugger
        (sb-ext:symbol-global-value '*debugger-hook*)
        nil)
  (unless (sb-int:encapsulated-p 'sb-thread:make-thread 'guard)
    (sb-int:encapsulate 'sb-thread:make-thread 'guard #'make-thread-with-guard))
  (set-where-bound (make-broadcast-stream) "*LOG-OUTPUT*")
  (set-where-bound nil "*GLOBAL-DEBUGGER*" "*ENABLE-EVENT-HISTORY*"
                   "*CONFIGURE-EMACS-INDENTATION*"))

;;;; What loading Swank leaves behind

(defun present-symbols (package)
  (let ((table (make-hash-table :test 'eq)))
    (do-symbols (symbol package table)
      (when (eq :internal (nth-value 1 (find-symbol (symbol-name symbol) package)))
        (setf (gethash symbol table) t)))))

(defun call-without-leftovers (function)
  "Call FUNCTION and unintern the symbols that it leaves in COMMON-LISP-USER: some of Swank's 130
would conflict with a user's (USE-PACKAGE :ALEXANDRIA)."
  (let* ((package (find-package :cl-user))
         (before (present-symbols package)))
    (funcall function)
    (loop for symbol being the hash-keys of (present-symbols package)
          unless (gethash symbol before)
            do (unintern symbol package))))
