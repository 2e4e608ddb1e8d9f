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

(defun processor-microseconds (number)
  "What the thread of that NUMBER has had of a processor; NIL if it cannot be known."
  #+(and sbcl linux)
  (and number
       (multiple-value-bind (seconds nanoseconds)
           (ignore-errors (sbcl:clock-gettime (logior (ash (lognot number) 3) 6)))
         (and nanoseconds (+ (* 1000000 seconds) (floor nanoseconds 1000)))))
  #-(and sbcl linux) (progn number nil))

(defun protect-control-stack ()
  "Put the guard page of this thread's control stack back in place after an
overflow: SBCL 2.2.9 gives the stack of a thread that has ended to another as it
is, and there the next overflow would be fatal.  A write to the page above makes
the runtime do it; without an overflow it is a write of what is there."
  #+(and sbcl sb-thread)
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
  "The pathname of the file NAME, in which no character is special."
  #+sbcl (sb-ext:parse-native-namestring name)
  #-sbcl (parse-namestring name))

(defun call-named (package name &rest arguments)
  "Call a function of a package that may not be there when this is compiled."
  (apply (fdefinition (find-symbol name package)) arguments))

(defun require-own (name)
  "Load the module NAME that comes with the Lisp.  ASDF, which is asked for modules,
too, would take the occasion to replace itself by a newer version."
  (let (#+sbcl (sb-ext:*module-provider-functions* '(sbcl:module-provide-contrib)))
    (require name)))
