;;;; memory.lisp -- MEMORY-REPORT: how full the heap is, and of what

(cl:in-package #:swank-mcp)

;;; ROOM walks the whole heap with collections off, however long that takes.  This walk has a time
;;; limit.

(defparameter *walk-seconds* 1
  "How much of the processor the walk may take.")

(defun kind-of-object (object)
  "The kind under which OBJECT is counted: the name of its structure or class, or a general one.
OBJECT may be garbage, so only its header is read."
  (typecase object
    (cons 'cons)
    ((or sbcl:instance sbcl:funcallable-instance)
     (let ((name (sbcl:classoid-name (sbcl:classoid-of object))))
       (if (symbolp name) name "other")))
    (function 'function)
    (symbol 'symbol)
    (simple-vector 'simple-vector)
    (bit-vector 'bit-vector)
    (string 'string)
    ((simple-array * (*)) "specialized vector")
    (array 'array)
    (number 'number)
    (sbcl:code-component "compiled code")
    (sb-ext:weak-pointer 'sb-ext:weak-pointer)
    (t "other")))

(defun walk-heap (seconds)
  "(VALUES KINDS GENERATIONS BYTES END): a hash table from kind to (BYTES . COUNT), a vector of
bytes by generation, and how many bytes were walked.  END says why the walk ended: NIL at the end
of the heap; :TIME; or :CHANGE if another thread was making objects there, which look like
anything."
  (let ((kinds (make-hash-table :test 'eq)) (generations (make-array 16 :initial-element 0))
        (bytes 0) (seen 0) (heap (heap-size)) (end (+ (own-microseconds) (* 1000000 seconds))))
    (declare (fixnum bytes seen heap end))
    (block walk
      (flet ((end-with (why) (return-from walk (values kinds generations bytes why))))
        (handler-case
            (sbcl:map-allocated-objects
             (lambda (object type size)
               (declare (ignore type))
               (unless (typep size '(and fixnum unsigned-byte)) (end-with :change))
               (when (> (the fixnum size) heap) (end-with :change))
               (let* ((kind (kind-of-object object))
                      (entry (or (gethash kind kinds) (setf (gethash kind kinds) (cons 0 0))))
                      (generation (sbcl:generation-of object)))
                 (declare (type (cons fixnum fixnum) entry) (fixnum size))
                 (incf bytes size)
                 (incf (car entry) size)
                 (incf (cdr entry))
                 (when (and (typep generation 'fixnum) (< -1 generation 16))
                   (incf (the fixnum (aref generations generation)) size))
                 (when (and (zerop (logand (incf seen) 4095)) (> (own-microseconds) end))
                   (end-with :time))))
             :dynamic)
          (error () (end-with :change)))
        (end-with nil)))))

(defun walk-heap-again ()
  "WALK-HEAP, up to three times if another thread made objects."
  (let ((found '()))
    (loop repeat 3
          do (setf found (multiple-value-list (walk-heap *walk-seconds*)))
          while (eq (fourth found) :change))
    (values-list found)))

(defun megabytes (bytes)
  "BYTES in megabytes of 1,048,576 bytes, as for the size of a heap."
  (multiple-value-bind (whole part) (floor (floor (* 10 bytes) 1048576) 10)
    (format nil "~:D.~D MB" whole part)))

(defun generation-lines (generations)
  (loop for bytes across generations
        for generation from 0
        when (plusp bytes)
          collect (format nil "~A: ~A~@[, collected ~:D time~:P~]"
                          (if (= generation sbcl:+pseudo-static-generation+)
                              "permanent (the core)"
                              (format nil "generation ~D" generation))
                          (megabytes bytes)
                          (and (< generation sbcl:+pseudo-static-generation+)
                               (sb-ext:generation-number-of-gcs generation)))))

(defun memory-report (&key (session "default") (limit 15))
  "Answer (:TITLE :SECTIONS :NOTES) about how full the heap is, and of what."
  (with-look-up (session)
    (let ((used (heap-used)) (size (heap-size)))
      (multiple-value-bind (kinds generations walked end) (walk-heap-again)
        (let ((rows (sort (loop for kind being the hash-keys of kinds using (hash-value entry)
                                collect (list kind (car entry) (cdr entry)))
                          #'> :key #'second)))
          (list
           :title (format nil "Heap: ~A of ~A used, ~D %" (megabytes used) (megabytes size)
                          (floor (* 100 used) size))
           :sections
           (list
            (cons (if (null end) "by type" (format nil "by type, in the first ~A" (megabytes walked)))
                  (loop for (kind bytes count) in (first-few rows limit)
                        collect (format nil "~A: ~A, ~:D object~:P, ~D %"
                                        (if (symbolp kind) (name-label kind) kind)
                                        (megabytes bytes) count
                                        (floor (* 100 bytes) (max 1 walked)))))
            (cons "by age" (generation-lines generations))
            (cons "collector"
                  (list (format nil "~A allocated since the start, ~,2F s spent collecting"
                                (megabytes (sb-ext:get-bytes-consed))
                                (/ sb-ext:*gc-run-time* internal-time-units-per-second))
                        (format nil "a collection every ~A" (megabytes (sb-ext:bytes-consed-between-gcs)))
                        (format nil "~A of control stack for each thread"
                                (megabytes (sb-alien:extern-alien "thread_control_stack_size"
                                                                  sb-alien:unsigned))))))
           :notes (append
                   (list "Garbage that was not collected yet is counted, too; (sb-ext:gc :full t) frees it.")
                   (when (> (length rows) limit)
                     (list (format nil "~:D more types: {\"limit\": ~D}" (- (length rows) limit)
                                   (min 200 (length rows)))))
                   (case end
                     (:time (list (format nil "The walk was ended after ~D s, before the end of the heap." *walk-seconds*)))
                     (:change '("The walk was ended where another thread was making objects; call again."))))))))))
