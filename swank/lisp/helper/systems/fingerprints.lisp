;;;; fingerprints.lisp -- size, time and content of each file of a system when it was last built

(cl:in-package #:swank-mcp)

;;; ASDF compares times in whole seconds.  It takes a file that was written in the second of its
;;; fasl, but later, for compiled.  So we remember a fingerprint of each file when it is built
;;; through us.

(defstruct (fingerprint (:copier nil))
  "SIZE and TIME of a file.  CODE, a hash of its content, is taken only while the file may still
change within the same second; else it is NIL."
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

(defconstant +hash-begin+ 14695981039346656037 "An FNV-1a hash, of 64 bits, of nothing.")

(declaim (inline fold-number))
(defun fold-number (hash number)
  "HASH with NUMBER, an octet or the code of a character."
  (declare (type (unsigned-byte 64) hash) (type (unsigned-byte 32) number))
  (ldb (byte 64 0) (* 1099511628211 (logxor hash number))))

(defun fold-octets (hash octets end)
  (declare (type (unsigned-byte 64) hash) (type (simple-array (unsigned-byte 8) (*)) octets)
           (type fixnum end) (optimize speed (safety 1)))
  (dotimes (i end hash)
    (setf hash (fold-number hash (aref octets i)))))

(defun fold-content (hash file &aux (*note-opened-p* nil))
  "HASH with the content of FILE."
  (with-open-file (in file :element-type '(unsigned-byte 8))
    (let ((octets (make-array 65536 :element-type '(unsigned-byte 8))))
      (loop for end = (read-sequence octets in)
            until (zerop end)
            do (setf hash (fold-octets hash octets end)))))
  hash)

(defun content-code (file)
  "A hash of the content of FILE; NIL if it cannot be read."
  (ignore-errors (fold-content +hash-begin+ file)))

(defun take-fingerprint (file)
  "The fingerprint of FILE as it is now, or NIL if there is none."
  (multiple-value-bind (size time) (ignore-errors (file-size-and-time file))
    (and size
         (make-fingerprint :size size :time time
                           :code (and (>= time (1- (get-universal-time))) (content-code file))))))

(defun changed-p (file old new)
  "True if FILE, which has the fingerprint NEW, has changed since it had the fingerprint OLD."
  (not (and (= (fingerprint-size old) (fingerprint-size new))
            (= (fingerprint-time old) (fingerprint-time new))
            (or (null (fingerprint-code old))
                (eql (fingerprint-code old) (or (fingerprint-code new) (content-code file)))))))

(defvar *fingerprints* (make-shared-table)
  "From (SYSTEM-NAME . FILE) to the fingerprint of FILE when it was last built.  SYSTEM-NAME is
:DEFINITION for files that define systems.")

(defun built-through-us-p (file)
  "True if FILE, a name, is a file of a system that was built through us."
  (with-shared-table (*fingerprints*)
    (loop for (nil . known) being the hash-keys of *fingerprints*
          thereis (string= known file))))

(defun definition-fingerprint (file)
  (gethash (cons :definition (native-name file)) *fingerprints*))

(defun (setf definition-fingerprint) (fingerprint file)
  (setf (gethash (cons :definition (native-name file)) *fingerprints*) fingerprint))
