;;;; allocation.lisp -- who allocates: the samples of the profiler's mode :ALLOC

(cl:in-package #:swank-mcp)

;;; In that mode the runtime takes a sample when it hands out memory: a region of
;;; some 32 kB, or one object that is larger.  The allocator is on top of the stack
;;; then, and the profiler's own report counts each sample as the allocator's.  So
;;; the samples themselves are looked at: one is the user's function's own that
;;; called whatever of the system has allocated.

(defstruct (allocator (:copier nil)) (name "") (self 0) (total 0) (sample 0))

#+sbcl
(defun function-name-in-report (function)
  "The name of FUNCTION, one of the debugger's, as reports print it."
  (let ((name (sbcl:debug-fun-name function)))
    ;; Of SB-C, but not every SBCL has TL-XEP.
    (prin1-to-string (if (and (consp name) (symbolp (first name))
                              (member (first name) '("XEP" "TL-XEP") :test #'string=))
                         (second name)
                         name))))

(defun own-allocator (allocators)
  "Whose own a sample is, of ALLOCATORS, innermost first; NIL if nobody's: the
collector allocates, too."
  (find-if-not (lambda (name) (or (scaffold-p name) (passed-through-p name)))
               allocators :key #'allocator-name))

(defun allocation-rows ()
  "(VALUES SAMPLES ROWS) of the samples that were taken, as REPORT-ROWS has them."
  (let ((samples 0) (elsewhere 0)
        (known (make-hash-table :test 'eq)) ; by the debugger's function
        (named (make-hash-table :test 'equal)))
    (declare (ignorable known))
    #+sbcl
    (with-report-printing ()
      (call-named '#:sb-sprof "REPORT" :type nil) ; until then there are raw data only
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
                                 ;; others are the runtime's own
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
