;;;; apart.lisp -- compiling a system for debugging, apart from its fasls

(cl:in-package #:swank-mcp)

;;; Code that is compiled with another DEBUG must not stay in the fasls, which others load, too.
;;; So ASDF writes those of the project's systems to a directory of their own, which goes when
;;; the work has ended.  As none is there at first, what is up to date is compiled as well.

(defun output-translations ()
  (find-symbol "*OUTPUT-TRANSLATIONS*" '#:asdf/output-translations))

(defun translated-apart (path name plain directory)
  "Where ASDF is to write the fasl PATH while the system NAME is built with its fasls in DIRECTORY.
PLAIN is the value of ASDF's translations without us."
  (if (let ((*building* name)) (foreign-system (native-name path)))
      (progv (list (output-translations)) (list plain)
        (call-named '#:asdf "APPLY-OUTPUT-TRANSLATIONS" path))
      (merge-pathnames
       (file-namestring path)
       (format nil "~A~36R/" directory (sxhash (directory-namestring path))))))

(defun load-foreign-dependencies (names)
  "Load what the systems NAMES need that is not of the project: it is compiled as always."
  (let ((*building* (first names)) (own (own-directories (first names))))
    (dolist (needed (remove-duplicates (mapcan (lambda (name) (reverse (system-with-dependencies name)))
                                               names)
                                       :test #'string= :from-end t))
      (unless (member (definition-directory (definition-file (primary-name needed))) own :test #'equal)
        (call-seeing-changes needed (lambda () (build-system needed nil t)))))))

(defun call-apart (systems debug function)
  "Call FUNCTION, which loads the systems whose names the function SYSTEMS returns, the first by
LOAD-NAMED-SYSTEM, with code compiled with DEBUG.  Their fasls, if they are of the project, are gone
afterwards.  The next load loads them from the others."
  #-sbcl (progn systems debug (funcall function))
  #+sbcl
  (call-with-temporary-directory
   (lambda (directory)
     (load-foreign-dependencies (funcall systems))
     (call-named '#:asdf "ENSURE-OUTPUT-TRANSLATIONS")
     (let ((name (first (funcall systems)))
           (plain (symbol-value (output-translations))))
       (unwind-protect
            (let ((*plain-translations* plain))
              (progv (list (output-translations))
                  (list (list (list (list t (lambda (path source)
                                              (declare (ignore source))
                                              (translated-apart path name plain directory))))))
                (call-with-debug-quality debug function)))
         (ignore-errors (note-built-apart (funcall systems))))))))
