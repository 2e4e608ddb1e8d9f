;;;; stacks.lisp -- the stacks that were sampled: which functions were on them, and where they branch

(cl:in-package #:swank-mcp)

;;; We read the samples instead of the profiler's report, which counts a recursive function once
;;; for each level.  In the mode :ALLOC the runtime takes a sample when it hands out memory: a
;;; region of some 32 kB, or one larger object.  Then the system's allocator is on top of the
;;; stack; such a sample belongs to the innermost function of the user's, which called the system.

(defstruct (sampled (:copier nil)) (name "") (self 0) (total 0) (sample 0))

(defun function-name-in-report (function)
  "The name of FUNCTION, an SB-DI:DEBUG-FUN, as the profiler prints it."
  (let ((name (sbcl:debug-fun-name function)))
    ;; These are SB-C's, but not every SBCL has TL-XEP.
    (prin1-to-string (if (and (consp name) (symbolp (first name))
                              (member (first name) '("XEP" "TL-XEP") :test #'string=))
                         (second name)
                         name))))

(defun name-in-sample (frame)
  "The name of FRAME, in a sample: of a function, of an assembly routine or of a foreign function."
  (typecase frame
    (sbcl:debug-fun (function-name-in-report frame))
    (string frame)
    (t (prin1-to-string frame))))

(defun own-allocators (stack)
  "STACK, a list of names, innermost first, from the one to which a sample of memory belongs; NIL for
none: the collector allocates as well."
  (member-if-not (lambda (name) (or (scaffold-p name) (passed-through-p name))) stack))

(defun map-stacks (function)
  "Call FUNCTION with each stack that was sampled: a list of names, innermost first, those of one
name EQ."
  (let ((known (make-hash-table :test 'eq)) (named (make-hash-table :test 'equal)))
    (with-report-printing ()
      (call-named '#:sb-sprof "REPORT" :type nil) ; this makes traces of the raw data
      (flet ((name (frame)
               (or (gethash frame known)
                   (let ((name (name-in-sample frame)))
                     (setf (gethash frame known)
                           (or (gethash name named) (setf (gethash name named) name)))))))
        (call-named '#:sb-sprof "MAP-TRACES"
                    (lambda (thread trace)
                      (declare (ignore thread))
                      (let ((stack '()))
                        (call-named '#:sb-sprof "MAP-TRACE-PC-LOCS"
                                    (lambda (frame pc)
                                      (declare (ignore pc))
                                      (when frame (push (name frame) stack)))
                                    trace)
                        (funcall function stack)))
                    (symbol-value (sampler "*SAMPLES*")))))))

;;; Rows

(defun count-stacks (map)
  "(VALUES SAMPLES ROWS) of the stacks with which MAP calls its argument, a function; a row is
(NAME SELF TOTAL).  A stack counts once for each function on it."
  (let ((samples 0) (elsewhere 0) (named (make-hash-table :test 'eq)))
    (flet ((sampled (name)
             (or (gethash name named) (setf (gethash name named) (make-sampled :name name)))))
      (funcall map
               (lambda (stack)
                 (incf samples)
                 (if stack (incf (sampled-self (sampled (first stack)))) (incf elsewhere))
                 (dolist (name stack)
                   (let ((function (sampled name)))
                     (unless (eql samples (sampled-sample function))
                       (setf (sampled-sample function) samples)
                       (incf (sampled-total function))))))))
    (values samples
            (append (and (plusp elsewhere) (list (list "elsewhere" elsewhere elsewhere)))
                    (loop for function being the hash-values of named
                          collect (list (sampled-name function) (sampled-self function)
                                        (sampled-total function)))))))

;;; Where stacks branch

(defparameter *deepest* 150 "Functions of one stack that are kept, from the form.")
(defparameter *most-stacks* 3000 "Different stacks that are kept, those that were sampled most.")

(defstruct (branch (:copier nil)) name (count 0) (branches '()))

(defun stack-from-form (stack)
  "STACK, outermost first, from the form on; without our own functions.  The form itself is not there
if it ends with a call."
  (let ((stack (remove-if #'scaffold-p (reverse stack))))
    (or (member "the form" stack :test #'search)
        (member-if-not #'passed-through-p stack)
        stack)))

(defun grow (root stack)
  "Count STACK, outermost first, in the tree of BRANCHes at ROOT."
  (let ((branch root))
    (dolist (name (first-few stack *deepest*))
      (setf branch (or (find name (branch-branches branch) :key #'branch-name :test #'eq)
                       (first (push (make-branch :name name) (branch-branches branch))))))
    (incf (branch-count branch))))

(defun branch-stacks (root)
  "((COUNT NAME ...) ...), outermost first, of the tree at ROOT; those that were sampled most first."
  (let ((stacks '()))
    (labels ((walk (branch above)
               (let ((stack (if (branch-name branch) (cons (branch-name branch) above) above)))
                 (when (and stack (plusp (branch-count branch)))
                   (push (cons (branch-count branch) (reverse stack)) stacks))
                 (dolist (branch (branch-branches branch)) (walk branch stack)))))
      (walk root '()))
    (first-few (sort stacks #'> :key #'first) *most-stacks*)))

(defun stacks-for-wire (stacks roots)
  "The part of a report about STACKS: :FRAMES ((NAME KIND) ...), KIND as FRAME-KIND has it, and :STACKS
((COUNT FRAME ...) ...), where a frame is its number."
  (let ((numbers (make-hash-table :test 'eq)) (frames '()))
    (flet ((number-of (name)
             (or (gethash name numbers)
                 (progn (push (list (without-prefixes name) (frame-kind name roots)) frames)
                        (setf (gethash name numbers) (hash-table-count numbers))))))
      (let ((numbered (loop for (count . stack) in stacks
                            collect (cons count (mapcar #'number-of stack)))))
        (list :frames (reverse frames) :stacks numbered)))))

(defun sampled-stacks (mode)
  "(VALUES SAMPLES ROWS STACKS) of what was sampled in MODE."
  (let ((root (make-branch)))
    (multiple-value-bind (samples rows)
        (count-stacks (lambda (count)
                        (map-stacks (lambda (stack)
                                      (let ((stack (if (eq mode :alloc) (own-allocators stack) stack)))
                                        (grow root (stack-from-form stack))
                                        (funcall count stack))))))
      (values samples rows (branch-stacks root)))))
