;;;; kept-fasls.lisp -- fasls of a project that fresh images keep for those after them
;;;;
;;;; What a file compiles to depends on what was loaded before it.  So a fasl is kept under a hash
;;;; of the core, of what the project has beside its source files, and of the texts of all its
;;;; files that were compiled before, and its own, in their order; and of the other files that were
;;;; opened for reading before.  A fasl of which the compiler said something is not kept: the next
;;;; image is to hear it again.  Nor is one of a file that opens others when it is compiled: which
;;;; these are is not known before.

(cl:in-package #:swank-mcp)

(defvar *kept-fasls* nil
  "In a fresh image, the native name of the directory for fasls that are kept; NIL keeps none.")

(defvar *chain* nil "The hash of all that was compiled so far; NIL if that is not known any more.")

(defvar *own-sources* '() "The native names of the source files of the project's own systems.")

(defvar *beside-sources* '() "The native names of the files that *CHAIN* has from the beginning.")

(defvar *opened* '()
  "The native names of the other files that were opened for reading since a file was compiled or
taken.")

(defparameter *max-opened* 1000 "With more files opened, nothing is kept.")

(defvar *to-keep* '()
  "((HASH FASL NAMES) ...) of what was compiled and may be kept, if others define the functions NAMES.")

(defvar *needed-functions* '()
  "((PACKAGE SYMBOL SETFP) ...) of functions that the fasls that were taken call and do not define.")

(defvar *taken* 0 "How many fasls were taken.")
(defvar *compiled-anew* 0 "How many files were compiled.")

(defun fold-text (hash text)
  (let ((octets (sb-ext:string-to-octets text :external-format :utf-8)))
    (fold-octets hash (coerce octets '(simple-array (unsigned-byte 8) (*))) (length octets))))

(defun fold-file (hash file)
  "HASH with the name and the content of FILE, a native name."
  (fold-content (fold-text hash file) (native-file file)))

(defun note-opened (open file &rest options)
  "Around OPEN: note FILE if it may be read."
  (when (and *chain* *note-opened-p*
             (member (getf options :direction :input) '(:input :io)))
    (unless (equal (pathname-type file) "fasl") ; of what is folded already
      (let ((name (ignore-errors (native-name (merge-pathnames file)))))
        (unless (or (null name) (member name *beside-sources* :test #'string=))
          (pushnew name *opened* :test #'string=)
          (when (> (length *opened*) *max-opened*) (setf *chain* nil))))))
  (apply open file options))

(defun regular-file-p (file)
  (sb-posix:s-isreg (sb-posix:stat-mode (sb-posix:stat file))))

(defun fold-opened (hash files)
  "HASH, which may be NIL, with the native names FILES and what they have in them; NIL if one has no
end, as a device."
  (ignore-errors
   (dolist (file (sort (copy-list files) #'string<) hash)
     (setf hash (cond ((null hash) nil)
                      ((not (probe-file (native-file file))) (fold-text hash file))
                      ((regular-file-p file) (fold-file hash file)))))))

(defun data-files (name)
  "The native names of the definition of the system NAME and of its files that are no source."
  (let ((files (list (definition-name name))))
    (call-with-files name (lambda (component file)
                            (when (component-type-p component "STATIC-FILE")
                              (push (native-name file) files))))
    (remove-if-not #'probe-file (remove "" files :test #'string=) :key #'native-file)))

(defun user-init-file ()
  (let ((file (and sb-ext:*userinit-pathname-function*
                   (probe-file (funcall sb-ext:*userinit-pathname-function*)))))
    (and file (native-name file))))

(defun begin-keeping (own)
  "From now on take what is kept of the systems OWN instead of compiling it."
  (when (and *kept-fasls*
             (or (not (boundp 'sbcl:*undefined-warnings*)) (listp sbcl:*undefined-warnings*)))
    (setf *own-sources* (mapcar #'native-name (mapcan #'source-files own))
          *beside-sources* (remove nil (cons (user-init-file) (mapcan #'data-files own)))
          *opened* '()
          *chain* (ignore-errors
                   (let ((hash (fold-text +hash-begin+
                                          (with-standard-io-syntax
                                            (prin1-to-string (list *features* *kept-fasls*))))))
                     (setf hash (fold-text hash (native-name *default-pathname-defaults*)))
                     (dolist (file *beside-sources* hash)
                       (setf hash (fold-file hash file))))))
    (sbcl:encapsulate 'open 'swank-mcp #'note-opened)
    (sbcl:encapsulate (named-symbol '#:uiop "COMPILE-FILE*") 'swank-mcp #'compile-or-take)))

(defun compile-or-take (compile input &rest keys &key output-file external-format &allow-other-keys)
  "Around UIOP:COMPILE-FILE*: take the fasl of INPUT that is kept, or compile it."
  (let* ((file (native-name input))
         (before (setf *chain* (fold-opened *chain* (shiftf *opened* '()))))
         (ownp (member file *own-sources* :test #'string=)))
    (flet ((hash ()
             (and before
                  (ignore-errors (fold-file (fold-text before (princ-to-string external-format)) file)))))
      (let ((hash (and ownp (hash))))
        (cond ((not ownp) (apply compile input keys))
              ((and hash (take-fasl hash output-file))
               (setf *chain* hash)
               (incf *taken*)
               (values output-file nil nil))
              (t
               (incf *compiled-anew*)
               (multiple-value-bind (fasl warningsp failurep saidp names)
                   (call-hearing-compiler (lambda () (apply compile input keys)))
                 (let ((opened (remove file (shiftf *opened* '()) :test #'string=)))
                   ;; the file may have been written meanwhile
                   (setf *chain* (and hash (eql hash (hash)) (fold-opened hash opened)))
                   (when (and *chain* fasl (not (or opened warningsp failurep saidp)))
                     (push (list hash fasl names) *to-keep*)))
                 (values fasl warningsp failurep))))))))

(defun undefined-counts ()
  "((KIND NAME COUNT) ...) of what the current compilation unit has found undefined so far."
  (and (boundp 'sbcl:*undefined-warnings*)
       (loop for warning in sbcl:*undefined-warnings*
             collect (list (sbcl:undefined-warning-kind warning) (sbcl:undefined-warning-name warning)
                           (sbcl:undefined-warning-count warning)))))

(defun call-hearing-compiler (compile)
  "The three values of COMPILE; whether the compiler warned of something that others cannot mend;
and the names of the functions that it called and found undefined."
  (let ((before (undefined-counts)) (saidp nil) (names '()))
    (multiple-value-bind (fasl warningsp failurep)
        (handler-bind ((warning (lambda (condition)
                                  (unless (typep condition 'sbcl:redefinition-warning)
                                    (setf saidp t)))))
          (funcall compile))
      (dolist (now (undefined-counts))
        (unless (member now before :test #'equal)
          (if (eq (first now) :function) (push (second now) names) (setf saidp t))))
      (values fasl warningsp failurep saidp names))))

;;; The directory

(defun kept-file (hash type)
  (native-file (format nil "~A~16,'0X.~A" *kept-fasls* hash type)))

(defun copy-octets (from to)
  "Copy the file FROM to TO.  Without streams: a project has many small files, and to open two streams
takes longer than to copy one."
  (let ((octets (make-array 65536 :element-type '(unsigned-byte 8)))
        (in (sb-posix:open from sb-posix:o-rdonly)) (out nil))
    (unwind-protect
         (sb-sys:with-pinned-objects (octets)
           (setf out (sb-posix:open to (logior sb-posix:o-wronly sb-posix:o-creat sb-posix:o-trunc)
                                    #o666))
           (loop with sap = (sb-sys:vector-sap octets)
                 for end = (sb-posix:read in sap (length octets))
                 until (zerop end)
                 do (loop with start = 0
                          while (< start end)
                          do (incf start (sb-posix:write out (sb-sys:sap+ sap start) (- end start))))))
      (when out (sb-posix:close out))
      (sb-posix:close in))))

(defun take-fasl (hash to)
  "Copy the fasl that is kept under HASH to the file TO.  NIL if there is none."
  (let ((fasl (kept-file hash "fasl")) (*note-opened-p* nil))
    (ignore-errors
     (handler-case (copy-octets fasl to)
       (sb-posix:syscall-error ()       ; at the first one TO has no directory
         (sb-posix:access fasl sb-posix:r-ok)
         (ensure-directories-exist to)
         (copy-octets fasl to)))
     (let ((names (with-open-file (in (kept-file hash "names") :if-does-not-exist nil)
                    (and in (with-standard-io-syntax (let ((*read-eval* nil)) (read in)))))))
       (setf *needed-functions* (append names *needed-functions*))
       t))))

(defun function-there-p (name)
  "True of (PACKAGE SYMBOL SETFP) if that names a function."
  (destructuring-bind (package symbol setfp) name
    (let ((found (and (find-package package) (find-symbol symbol package))))
      (and found
           (if setfp
               (fboundp (list 'setf found))
               (and (fboundp found) (not (macro-function found))))))))

(defun function-parts (name)
  (let ((symbol (if (consp name) (second name) name)))
    (and (symbolp symbol) (symbol-package symbol)
         (list (package-name (symbol-package symbol)) (symbol-name symbol) (consp name)))))

(defun keep-fasls ()
  "Keep what was compiled and needs no function that is not there."
  (loop for (hash fasl names) in (shiftf *to-keep* '())
        for parts = (mapcar #'function-parts names)
        when (every (lambda (name) (and name (function-there-p name))) parts)
          do (ignore-errors
              (let ((part (kept-file hash (format nil "~D-tmp" (sb-posix:getpid)))))
                (ensure-directories-exist part)
                (when parts
                  (with-open-file (out (kept-file hash "names") :direction :output :if-exists :supersede)
                    (with-standard-io-syntax (prin1 parts out))))
                (copy-octets fasl part)
                (sb-posix:rename (native-name part) (native-name (kept-file hash "fasl"))))))
  (answer t))

(defun in-doubt-p ()
  "True if what the fasls that were taken have shown may be otherwise when they are compiled."
  (notevery #'function-there-p *needed-functions*))
