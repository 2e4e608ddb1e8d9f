;;;; compiled.lisp -- which files of a system were compiled, and which were up to date

(cl:in-package #:swank-mcp)

(defun call-noting-compiled (note build)
  "Call BUILD; call NOTE with the native name of each file that it compiles.  ASDF tells nobody.
The first macro of a file does, which is IN-PACKAGE in most of them."
  (let* ((expand *macroexpand-hook*)
         (last nil)
         (*macroexpand-hook*
           (lambda (expander form environment)
             (let ((file *compile-file-truename*))
               (unless (or (null file) (eq file last))
                 (setf last file)
                 (funcall note (native-name file))))
             (funcall expand expander form environment))))
    (funcall build)))

(defun common-directory (directories)
  "The directory, a native name, that all of DIRECTORIES lie in."
  (let* ((first (first directories))
         (end (reduce #'min (rest directories)
                      :key (lambda (other) (or (mismatch first other) (length first)))
                      :initial-value (length first))))
    (subseq first 0 (let ((slash (position #\/ first :end end :from-end t))) (if slash (1+ slash) 0)))))

(defun short-file (file &optional name)
  "FILE without the directory that all of the project's systems lie in, or without that of the
system NAME."
  (let ((root (find-if (lambda (directory) (and directory (eql 0 (search directory file))))
                       (list (and *project-own* (common-directory (own-directories nil)))
                             (first (own-directories name))))))
    (if root (subseq file (length root)) file)))

(defparameter *max-compiled-shown* 20)

(defun built-text (name compiled units)
  "What a reply says of COMPILED, native names of files, the newest first, and of the UNITS of the
system NAME and its dependencies; NIL if there is nothing to say."
  (let* ((own (own-directories name))
         (table (make-hash-table :test 'equal))
         (fresh 0))
    (dolist (file compiled) (setf (gethash file table) t))
    (dolist (unit units)
      (when (and (member (definition-directory (definition-file (primary-name (unit-system unit))))
                         own :test #'equal)
                 (not (gethash (unit-file unit) table)))
        (incf fresh)))
    (let* ((ours (loop for file in (reverse compiled)
                       when (find-if (lambda (directory) (eql 0 (search directory file))) own)
                         collect (short-file file name)))
           (others (- (length compiled) (length ours)))
           (parts (append (first-few ours *max-compiled-shown*)
                          (when (count-beyond ours *max-compiled-shown*)
                            (list (format nil "~D more" (count-beyond ours *max-compiled-shown*))))
                          (when (plusp others)
                            (list (format nil "~D file~:P of other systems" others))))))
      (when (or parts (plusp fresh))
        (format nil "~:[~;Compiled: ~:*~{~A~^, ~}~]~:[~;; ~]~[~:;~:*~D file~:P ~:*~[~;was~:;were~] up to date~]"
                parts (and parts (plusp fresh)) fresh)))))

(defun note-built (name compiled units)
  "Have the current evaluation's reply say what was compiled."
  (when *evaluation*
    (setf (evaluation-built *evaluation*) (built-text name compiled units))))
