;;;; allocation.lisp -- which functions allocate: the samples of the profiler's mode :ALLOC

(cl:in-package #:swank-mcp)

;;; In that mode the runtime takes a sample when it hands out memory: a region of some 32 kB, or
;;; one larger object.  Then the system's allocator is on top of the stack, and the profiler's
;;; report counts each sample as the allocator's.  So we read the samples.  A sample belongs to
;;; the innermost function of the user's, which called the system.

(defstruct (allocator (:copier nil)) (name "") (self 0) (total 0) (sample 0))

(defun function-name-in-report (function)
  "The name of FUNCTION, an SB-DI:DEBUG-FUN, as the profiler prints it."
  (let ((name (sbcl:debug-fun-name function)))
    ;; These are SB-C's, but not every SBCL has TL-XEP.
    (prin1-to-string (if (and (consp name) (symbolp (first name))
                              (member (first name) '("XEP" "TL-XEP") :test #'string=))
                         (second name)
                         name))))

(defun own-allocator (allocators)
  "The one of ALLOCATORS, innermost first, to which a sample belongs; NIL for none: the collector
allocates as well."
  (find-if-not (lambda (name) (or (scaffold-p name) (passed-through-p name)))
               allocators :key #'allocator-name))

(defun allocation-rows ()
  "(VALUES SAMPLES ROWS) of the samples taken, as in REPORT-ROWS."
  (let ((samples 0) (elsewhere 0)
        (known (make-hash-table :test 'eq)) ; from DEBUG-FUN to ALLOCATOR
        (named (make-hash-table :test 'equal)))
    (with-report-printing ()
      (call-named '#:sb-sprof "REPORT" :type nil) ; this makes traces of the raw data
      (labels ((allocator (function)
                 (or (gethash function known)
                     (let ((name (function-name-in-report function)))
                       (setf (gethash function known)
                             (or (gethash name named)
                                 (setf (gethash name named) (make-allocator :name name)))))))
               (count-sample (trace)
                 (let ((stack '()))
                   (incf samples)
                   (call-named '#:sb-sprof "MAP-TRACE-PC-LOCS"
                               (lambda (function pc)
                                 (declare (ignore pc))
                                 ;; the others are the runtime's
                                 (when (typep function 'sbcl:debug-fun)
                                   (push (allocator function) stack)))
                               trace)
                   (dolist (allocator stack)
                     (unless (eql samples (allocator-sample allocator)) ; recursion
                       (setf (allocator-sample allocator) samples)
                       (incf (allocator-total allocator))))
                   (let ((own (own-allocator stack)))
                     (if own (incf (allocator-self own)) (incf elsewhere))))))
        (call-named '#:sb-sprof "MAP-TRACES"
                    (lambda (thread trace) (declare (ignore thread)) (count-sample trace))
                    (symbol-value (sampler "*SAMPLES*")))))
    (values samples
            (list* (list "elsewhere" elsewhere elsewhere)
                   (loop for allocator being the hash-values of named
                         collect (list (allocator-name allocator) (allocator-self allocator)
                                       (allocator-total allocator)))))))
