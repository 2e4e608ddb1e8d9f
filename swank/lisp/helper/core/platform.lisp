;;;; platform.lisp -- what is asked of the Lisp and of the operating system under it

(cl:in-package #:swank-mcp)

(defun microseconds ()
  "The time of day; GET-INTERNAL-REAL-TIME of SBCL ticks only every 4 ms."
  #+sbcl (multiple-value-bind (seconds microseconds) (sb-ext:get-time-of-day)
           (+ (* 1000000 seconds) microseconds))
  #-sbcl (floor (* 1000000 (get-internal-real-time)) internal-time-units-per-second))

(defun bytes-consed ()
  #+sbcl (sb-ext:get-bytes-consed) #-sbcl 0)

(defun heap-used () #+sbcl (sbcl:dynamic-usage) #-sbcl 0)
(defun heap-size () #+sbcl (sb-ext:dynamic-space-size) #-sbcl 0)

(defun system-thread-number ()
  "The system's number for this thread, or NIL."
  #+(and sbcl linux)
  (let ((link (ignore-errors (sbcl:unix-readlink "/proc/thread-self"))))
    (and link (parse-integer link :start (1+ (position #\/ link :from-end t)) :junk-allowed t))))

(defun thread-system-number (thread)
  "The system's number for THREAD, or NIL if it is unknown or THREAD has ended."
  #+sbcl (let ((number (ignore-errors (sb-thread:thread-os-tid thread))))
           (and number (plusp number) number))
  #-sbcl (progn thread nil))

(defun processor-microseconds (number)
  "The processor time of the thread with the system's NUMBER, or NIL if it is unknown."
  #+(and sbcl linux)
  (and number
       (multiple-value-bind (seconds nanoseconds)
           (ignore-errors (sbcl:clock-gettime (logior (ash (lognot number) 3) 6)))
         (and nanoseconds (+ (* 1000000 seconds) (floor nanoseconds 1000)))))
  #-(and sbcl linux) (progn number nil))

(defun own-microseconds ()
  "The processor time of this thread, for limits on its own work; where that is unknown, MICROSECONDS."
  (or (processor-microseconds (system-thread-number)) (microseconds)))

(defun protect-control-stack ()
  "Protect the guard page of this thread's control stack again after an overflow.

A thread that overflowed its stack and ends leaves the guard page unprotected.  SBCL 2.2.9
gives the stack to another thread as it is, and the next overflow there is fatal
(\"control_stack_guard_page_protected not NIL\").  A write to the page above the guard page
makes the runtime protect it.  Without an overflow this rewrites one unused byte."
  #+sbcl
  (let ((start (and sbcl:thread-control-stack-start-slot
                    (sbcl:current-thread-offset-sap sbcl:thread-control-stack-start-slot))))
    (when start
      (let ((page (sb-sys:int-sap
                   (+ (sb-sys:sap-int start)
                      (* 2 (sb-alien:extern-alien "os_vm_page_size" sb-alien:int))))))
        (setf (sb-sys:sap-ref-8 page 0) (sb-sys:sap-ref-8 page 0)))))
  nil)

(defun native-name (file)
  #+sbcl (sb-ext:native-namestring file)
  #-sbcl (namestring file))

(defun native-file (name)
  "The pathname of the file NAME, in which no character is a wildcard."
  #+sbcl (sb-ext:parse-native-namestring name)
  #-sbcl (parse-namestring name))

;;; Names of packages that may not be there when this is compiled

(defun call-named (package name &rest arguments)
  (apply (fdefinition (find-symbol name package)) arguments))

(defun named-symbol (package name)
  "The symbol NAME of PACKAGE, or NIL if either does not exist."
  (and (find-package package) (find-symbol name package)))

(defun named-function (package name)
  "The symbol NAME of PACKAGE if it names a function, else NIL."
  (let ((symbol (named-symbol package name)))
    (and symbol (fboundp symbol) symbol)))

(defun named-value (package name)
  "The value of the variable NAME of PACKAGE, or NIL if it has none."
  (let ((symbol (named-symbol package name)))
    (and symbol (boundp symbol) (symbol-value symbol))))

(defun require-contrib (name)
  "Load the module NAME that comes with the Lisp.  ASDF is not asked for it: it would
first replace itself by a newer version."
  (let (#+sbcl (sb-ext:*module-provider-functions* '(sbcl:module-provide-contrib)))
    (require name)))

(defun call-with-present-symbols (function package)
  "Call FUNCTION with each symbol present in PACKAGE, and its status."
  (with-package-iterator (next package :internal :external)
    (loop
      (multiple-value-bind (more symbol status) (next)
        (unless more (return))
        (funcall function symbol status)))))
