;;;; marks.lisp -- what each file of a system was when it was last built

(cl:in-package #:swank-mcp)

;;; ASDF compares times in whole seconds: it takes a file for compiled that was
;;; written in the second of its fasl, though later.  So we mark what each file was
;;; when it was last built through us.

(defstruct (mark (:copier nil))
  "What a file was.  The CODE of its content is taken only while the same second may
bring another one of the same size; else it is NIL."
  size time code)

(defun file-size-and-time (file)
  "(VALUES SIZE UNIVERSAL-TIME) of FILE; NIL if it is not there."
  #+sbcl
  (multiple-value-bind (there device inode mode links user group device* size accessed modified)
      (sbcl:unix-stat (native-name file))
    (declare (ignore device inode mode links user group device* accessed))
    (and there (values size (+ modified #.(encode-universal-time 0 0 0 1 1 1970 0)))))
  #-sbcl
  (when (probe-file file)
    (values (with-open-file (in file :element-type '(unsigned-byte 8)) (file-length in))
            (file-write-date file))))

(defun content-code (file)
  "A number that tells the content of FILE from others; NIL if it cannot be read."
  (ignore-errors
   (with-open-file (in file :element-type '(unsigned-byte 8))
     (let ((buffer (make-array 65536 :element-type '(unsigned-byte 8))) (code 2166136261))
       (declare (type (unsigned-byte 32) code) (optimize speed (safety 1)))
       (loop                            ; FNV-1a
         (let ((end (read-sequence buffer in)))
           (declare (type (integer 0 65536) end))
           (when (zerop end) (return code))
           (dotimes (i end)
             (setf code (logand #xFFFFFFFF (* 16777619 (logxor code (aref buffer i))))))))))))

(defun mark-file (file)
  "The MARK of FILE as it is now, or NIL if there is none."
  (multiple-value-bind (size time) (ignore-errors (file-size-and-time file))
    (and size
         (make-mark :size size :time time
                    :code (and (>= time (1- (get-universal-time))) (content-code file))))))

(defun changed-p (file old new)
  "True if FILE, which has the mark NEW, is another one than when it had the mark OLD."
  (not (and (= (mark-size old) (mark-size new))
            (= (mark-time old) (mark-time new))
            (or (null (mark-code old))
                (eql (mark-code old) (or (mark-code new) (content-code file)))))))

(defvar *marks* (make-shared-table)
  "(SYSTEM-NAME . FILE) to the mark that it had when it was last built; SYSTEM-NAME is
:DEFINITION for files that define systems.")

(defun built-through-us-p (file)
  "True of the name of a file of a system that was built through us."
  (with-shared-table (*marks*)
    (loop for (nil . known) being the hash-keys of *marks*
          thereis (string= known file))))

(defun mark-of-definition (file)
  (gethash (cons :definition (native-name file)) *marks*))

(defun (setf mark-of-definition) (mark file)
  (setf (gethash (cons :definition (native-name file)) *marks*) mark))
