;;; Objects of every kind that a copy of an image must have as they were, and a digest of all of
;;; them. TestCheckpointOracle changes them at random.

(defpackage :oracle (:use :cl))
(in-package :oracle)

(defvar *value* '())
(defvar *counters* '() "Closures.")
(defclass node () ((number :initarg :number :accessor number-of)))
(defvar *nodes* '())
(defvar *by-identity* (make-hash-table :test 'eq) "From nodes, whose addresses are their keys.")
(defvar *table* (make-hash-table))
(defvar *array* (make-array 0 :element-type '(unsigned-byte 64)))
(defvar *packages* '() "Names.")
(defvar *readtable-of-ours* (copy-readtable nil))
(defvar *random* (sb-ext:seed-random-state 42))
(defvar *names* 0 "As GENSYM counts.")
(defvar *weak* '() "Weak pointers.")
(defvar *held* '() "Objects to which some of them point.")
(defvar *finalized* 0)
(defvar *mortal* '() "Objects whose finalizers count in *FINALIZED*.")
(defvar *foreign* (sb-alien:make-alien (sb-alien:unsigned 64) 8))
(defvar *files* '() "Open streams.")

(dotimes (i 8) (setf (sb-alien:deref *foreign* i) 0))

(declaim (ftype (function ((unsigned-byte 62) t) (unsigned-byte 62)) mix))
(defun mix (sum thing)
  "A new sum, which tells of THING by what it looks like and not by where it is."
  (declare (type (unsigned-byte 62) sum))
  (ldb (byte 62 0)
       (logxor (* 31 sum)
               (ash sum -31)
               (etypecase thing
                 (integer (ldb (byte 62 0) (* (1+ (abs thing)) 1099511628211)))
                 (symbol (sxhash (symbol-name thing)))
                 (string (sxhash thing))))))

(defun array-sum (array)
  (declare (type (simple-array (unsigned-byte 64) (*)) array) (optimize speed (safety 0)))
  (let ((sum 0))
    (declare (type (unsigned-byte 64) sum))
    (loop for word across array
          for i of-type fixnum from 1
          do (setf sum (logxor sum (ldb (byte 64 0) (* word i)))))
    sum))

(defun table-sum (table)
  (let ((sum 0))
    (declare (type fixnum sum))
    (maphash (lambda (key value)
               (declare (type fixnum key value))
               (setf sum (logxor sum (logand most-positive-fixnum (* 31 (+ key (* 7 value)))))))
             table)
    sum))

(defun node-text (node)
  (format nil "~{~A ~}"
          (loop for slot in (sb-mop:class-slots (class-of node))
                for name = (sb-mop:slot-definition-name slot)
                collect name
                collect (if (slot-boundp node name) (slot-value node name) "unbound"))))

(defun package-text (name)
  (let ((symbols '()))
    (do-symbols (symbol name)
      (push (format nil "~A=~A/~A" symbol (and (boundp symbol) (symbol-value symbol))
                    (nth-value 1 (find-symbol (symbol-name symbol) name)))
            symbols))
    (format nil "~A: ~{~A ~}" name (sort symbols #'string<))))

(defun finalized ()
  "*FINALIZED*, when the finalizers that are due have run."
  (loop repeat 2000
        while (find :due *mortal* :key #'car)
        do (sleep 0.001))
  *finalized*)

(defun parts ()
  "What is to be as it was, as numbers and strings, by what it is about."
  (list :value (format nil "~S" *value*)
        :counters (format nil "~{~A ~}" (mapcar (lambda (c) (funcall c :look)) *counters*))
        :nodes (format nil "~{~A~%~}" (mapcar #'node-text *nodes*))
        :by-identity (format nil "~A: ~{~A ~}" (hash-table-count *by-identity*)
                             (mapcar (lambda (node) (gethash node *by-identity*)) *nodes*))
        :table (table-sum *table*)
        :array (array-sum *array*)
        :packages (format nil "~{~A~%~}" (mapcar #'package-text *packages*))
        :readtable (let ((*readtable* *readtable-of-ours*))
                     (format nil "~S ~A" (read-from-string "!a ?b")
                             (readtable-case *readtable*)))
        :random (random most-positive-fixnum (make-random-state *random*))
        :names *names*
        :weak (format nil "~{~S ~}" (mapcar #'sb-ext:weak-pointer-value *weak*))
        :finalized (finalized)
        :foreign (format nil "~{~A ~}" (loop for i below 8 collect (sb-alien:deref *foreign* i)))
        :files (format nil "~{~A ~}" (mapcar #'file-position *files*))
        :package (package-name *package*)))

(defun digest ()
  (let ((sum 0))
    (loop for (nil part) on (parts) by #'cddr
          do (setf sum (mix sum part)))
    sum))

;;; What changes them

(defun make-counter (n)
  (lambda (what) (ecase what (:look n) (:count (incf n)))))

(defun add-node (number)
  (let ((node (make-instance 'node :number number)))
    (push node *nodes*)
    (setf (gethash node *by-identity*) number)))

(defun fill-table (from)
  (dotimes (i 100000) (setf (gethash (+ from i) *table*) i)))

(defun make-words (megabytes seed)
  (setf *array* (make-array (* megabytes 125000) :element-type '(unsigned-byte 64) :initial-element seed))
  (length *array*))

(defun add-package (name)
  (let ((package (make-package name :use '(:cl-user))))
    (push name *packages*)
    (export (intern "OUT" package) package)
    (setf (symbol-value (intern "IN" package)) *names*)))

(defun drop-package ()
  (when *packages* (delete-package (pop *packages*))))

(defun next-name ()
  (let ((*gensym-counter* *names*))
    (gensym)
    (setf *names* *gensym-counter*)))

(defun add-weak (thing)
  (push thing *held*)
  (push (sb-ext:make-weak-pointer thing) *weak*)
  nil)

(defun drop-held ()
  (pop *held*)
  (sb-ext:gc :full t))

(defun add-mortal ()
  (let ((entry (list :alive nil)) (object (make-array 3)))
    (setf (second entry) object)
    (sb-ext:finalize object (lambda () (setf (car entry) :ended) (incf *finalized*)))
    (push entry *mortal*)
    nil))

(defun drop-mortal ()
  (let ((entry (find :alive *mortal* :key #'car)))
    (when entry
      (setf (second entry) nil (first entry) :due)
      (sb-ext:gc :full t)
      (finalized))))

(defun clear-stack ()
  "Let no garbage look alive."
  (sb-sys:scrub-control-stack))

(defun open-to-read (file)
  (push (open file) *files*)
  nil)

(defun open-to-write (file)
  (push (open file :direction :output :if-exists :supersede) *files*)
  nil)

(defun use-file (stream n)
  (cond ((input-stream-p stream) (dotimes (i n) (read-char stream nil)))
        (t (format stream "~A" (make-string n :initial-element #\x))
           (when (oddp n) (finish-output stream)))))
