;;;; long-lists.lisp -- lists that do not fit into a person's heap are refused before they are made

(cl:in-package #:swank-mcp)

;;; MAKE-LIST allocates its list in one step: no watcher can act before the end of it, and where
;;; the heap ends first SBCL ends.  An array that does not fit is an error that can be handled.
;;; So while the heap of a person's image is watched, MAKE-LIST and MAKE-SEQUENCE are encapsulated
;;; and signal that error for a list, too.  Compiled code has the allocation inline instead of a
;;; call.  A compiler macro makes it a call in what a session compiles; it changes nothing in
;;; other code, and the person's own lists are not looked at.

(defparameter *cons-bytes* 16)

(defun list-fits-p (count)
  (not (heap-over-p (+ (heap-used) (* *cons-bytes* count))
                    (least-base (busy-evaluations) (live-session-threads)))))

(defun refuse-long-list (count)
  "Signal a HEAP-EXHAUSTED-ERROR if a list of COUNT conses would leave too little of the heap."
  (let ((bytes (* *cons-bytes* count)))
    (unless (or (list-fits-p count)
                (and (< bytes (heap-size)) (collect-all (heap-used)) (list-fits-p count)))
      ;; the function takes the words of the C runtime: a fixnum is twice its number
      (sbcl:heap-exhausted-error (floor (- (heap-size) (heap-used)) 2)
                                 (min (floor bytes 2) most-positive-fixnum)))))

(defun long-list-p (count)
  "True if a session's code asks for COUNT conses, which are not few in this heap."
  (and *noting* (typep count 'unsigned-byte) (> (* *cons-bytes* count) (/ (heap-size) 64))))

(defun make-list-checked (make &rest arguments)
  (when (long-list-p (first arguments)) (refuse-long-list (first arguments)))
  (apply make arguments))

(defun make-sequence-checked (make &rest arguments)
  (destructuring-bind (&optional type count &rest options) arguments
    (declare (ignore options))
    (when (and (long-list-p count) (ignore-errors (subtypep type 'list)))
      (refuse-long-list count)))
  (apply make arguments))

(defparameter *list-makers*
  '((make-list . make-list-checked) (make-sequence . make-sequence-checked)))

(defun calling-list-maker (form environment)
  "The compiler macro of MAKE-LIST and MAKE-SEQUENCE: in a session's thread a call stays a call, unless
the length is a small number in it."
  (declare (ignore environment))
  (destructuring-bind (name . arguments)
      (if (eq (first form) 'funcall)
          (cons (second (second form)) (cddr form))
          form)
    (if (and *noting*
             (or (eq name 'make-list) (equal (first arguments) ''list))
             (not (typep (if (eq name 'make-list) (first arguments) (second arguments)) '(mod 10000))))
        `(locally (declare (notinline ,name)) (,name ,@arguments))
        form)))

(defun watch-list-makers ()
  "Check the lists that a session's code makes, from now on.  A compiler macro of the person's stays."
  (loop for (name . checked) in *list-makers*
        do (unless (sbcl:encapsulated-p name 'swank-mcp-lists)
             (sbcl:encapsulate name 'swank-mcp-lists checked)
             (unless (compiler-macro-function name)
               (sb-ext:without-package-locks
                 (setf (compiler-macro-function name) #'calling-list-maker))))))

(defun leave-list-makers-alone ()
  (loop for (name) in *list-makers*
        do (sbcl:unencapsulate name 'swank-mcp-lists)
           (when (eq (compiler-macro-function name) #'calling-list-maker)
             (sb-ext:without-package-locks
               (setf (compiler-macro-function name) nil)))))
