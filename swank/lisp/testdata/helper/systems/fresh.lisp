;;;; fresh.lisp -- cores of a project

(cl:in-package #:swank-mcp)

(define-test changed-since-compiled
  (let* ((directory (native-name (merge-pathnames (format nil "needed-~D/" (sb-posix:getpid))
                                                  (uiop:temporary-directory))))
         (source (native-file (concatenate 'string directory "needed-for-core.lisp"))))
    (flet ((put (file text)
             (with-open-file (out file :direction :output) (write-string text out)))
           (answer ()
             (handler-case (check-compiled "needed-for-core")
               (error (e) (search "has changed since it was compiled" (princ-to-string e))))))
      (ensure-directories-exist source)
      (unwind-protect
           (progn
             (put source "(defpackage #:needed-for-core (:use #:cl))")
             (put (merge-pathnames "needed-for-core.asd" source)
                  "(defsystem \"needed-for-core\" :components ((:file \"needed-for-core\")))")
             (asdf:load-asd (merge-pathnames "needed-for-core.asd" source))
             (check (answer) nil)       ; was never compiled
             (asdf:compile-system "needed-for-core" :verbose nil)
             (check (answer) nil)
             (let ((later (+ (- (get-universal-time) (encode-universal-time 0 0 0 1 1 1970 0)) 10)))
               (sb-posix:utime (native-name source) later later))
             (check (null (answer)) nil))
        (asdf:clear-system "needed-for-core")
        (sb-ext:delete-directory (native-file directory) :recursive t)))))
