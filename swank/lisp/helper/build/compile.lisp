;;;; compile.lisp -- COMPILE-SOURCE and LOAD-SOURCE
;;;;
;;;; The folder build/ loads, compiles, disassembles and tests.  Each file has a function that the
;;;; bridge calls, run as an evaluation (eval/perform.lisp); tests.lisp uses test-frameworks.lisp,
;;;; and who compiles with another DEBUG uses apart.lisp.

(cl:in-package #:swank-mcp)

(defun require-file (file)
  (unless (and (probe-file file) (pathname-name (probe-file file)))
    (let ((near (first (near-files file))) (name (file-namestring file)))
      (refuse "FILE-ERROR"
              (format nil "There is no file ~A.~A" (native-name file) (near-files-text file))
              (and near
                   (meant-p (pathname-name file) (subseq near 0 (position #\. near :from-end t)))
                   (list :instead (list name near)))))))

(defun near-files (file)
  "The names of the Lisp files beside FILE, the nearest first."
  (sort (mapcar #'file-namestring
                (ignore-errors
                 (lisp-files (make-pathname :name nil :type nil :version nil :defaults file))))
        #'<
        :key (lambda (name) (edit-distance name (file-namestring file)))))

(defun near-files-text (file)
  "A sentence about the Lisp files beside FILE."
  (let ((directory (make-pathname :name nil :type nil :version nil :defaults file))
        (near (near-files file)))
    (if near
        (format nil " Lisp files there: ~{~A~^, ~}." (first-few near 5))
        (format nil " There are no Lisp files in ~A." (native-name directory)))))

(defun lisp-files (directory)
  #+sbcl (directory (merge-pathnames "*.lisp" directory) :resolve-symlinks nil)
  #-sbcl (directory (merge-pathnames "*.lisp" directory)))

(defun call-with-temporary-directory (function)
  "Call FUNCTION with a new directory, which is deleted afterwards."
  #+sbcl
  (let ((directory (concatenate 'string
                                (sb-posix:mkdtemp
                                 (format nil "~A/swank-mcp-XXXXXX"
                                         (string-right-trim "/" (or (sb-posix:getenv "TMPDIR") "/tmp"))))
                                "/")))
    (unwind-protect (funcall function directory)
      (ignore-errors (sb-ext:delete-directory (native-file directory) :recursive t))))
  #-sbcl (funcall function "/tmp/"))

(defun compile-source (&key file text output (load t)
                         (session "default") (token 0) package (debug 1))
  "Compile the file named FILE, or TEXT, with the file compiler.  If there was no error and LOAD is
true, load the result.  OUTPUT is the name of the fasl, which is kept only if given.  The answer is
EVALUATE's with
  :REPORT (:NOTES ((SEVERITY FILE LINE COLUMN TEXT SOURCE-LINE) ...) :MORE n
           :FAILED boolean :LOADED boolean)
where FILE is \"\" for the given FILE and for TEXT."
  (call-as-work
   (lambda (evaluation read)
     (declare (ignore read))
     (call-with-temporary-directory
      (lambda (directory)
        (let ((source (native-file (or file (concatenate 'string directory "code.lisp"))))
              (fasl (native-file (or output (concatenate 'string directory "code.fasl")))))
          (flet ((work () (compile-and-load evaluation source fasl load)))
            (cond (file
                   (require-file source)
                   (call-with-file-syntax (evaluation-session evaluation) #'work))
                  (t
                   (with-open-file (out source :direction :output :external-format :utf-8)
                     (write-string text out))
                   (let ((*work-file* (native-name source)))
                     (call-with-source-text text #'work)))))))))
   :code (or text (list 'compile-file file))
   :session session :token token :package package :debug debug))

(defun compile-and-load (evaluation source fasl load)
  (let ((collector (make-collector)) (loadedp nil) (name (native-name source)))
    (report-with evaluation
                 (lambda ()
                   (list :notes (loop for (severity file . rest) in (notes-for-wire collector)
                                      collect (list* severity (if (string= file name) "" file) rest))
                         :more (collector-more collector)
                         :failed (collector-failedp collector)
                         :loaded loadedp)))
    (call-recording-files
     evaluation source
     (lambda ()
       (call-loading-file
        source
        (lambda ()
          (call-collecting-notes
           collector
           (lambda ()
             (let ((*compile-verbose* nil) (*compile-print* nil))
               (with-compilation-unit (:override t)
                 (unless (compile-file source :output-file fasl)
                   (setf (collector-failedp collector) t))))))
          (when (and load (not (collector-failedp collector)))
            (let ((*load-verbose* nil)) (load fasl))
            (setf loadedp t))))))
    '()))

(defun load-source (file &key (session "default") (token 0) package)
  "Load the file named FILE, source or fasl.  The answer is EVALUATE's."
  (call-as-work
   (lambda (evaluation read)
     (declare (ignore read))
     (let ((source (native-file file)) (*load-verbose* nil))
       (require-file source)
       (call-recording-files evaluation source
                             (lambda ()
                               (call-loading-file
                                source
                                (lambda ()
                                  (call-with-file-syntax (evaluation-session evaluation)
                                                         (lambda () (load source)))))))
       '()))
   :code (list 'load file) :session session :token token :package package))
