;;;; kept-fasls.lisp -- fasls that fresh images keep

(cl:in-package #:swank-mcp)

(define-test taking-fasls
  (let* ((directory (native-name (merge-pathnames (format nil "kept-~D/" (sb-posix:getpid))
                                                  (uiop:temporary-directory))))
         (*kept-fasls* (concatenate 'string directory "kept/"))
         (*needed-functions* '())
         (fasl (native-file (concatenate 'string directory "a/b/x.fasl"))))
    (flet ((keep (hash type text)
             (ensure-directories-exist (kept-file hash type))
             (with-open-file (out (kept-file hash type) :direction :output)
               (write-string text out))
             (sb-posix:utime (kept-file hash type) 1000 1000))
           (text () (with-open-file (in fasl) (read-line in))))
      (unwind-protect
           (progn
             (keep 1 "fasl" "one")
             (keep 2 "fasl" "two")
             (keep 2 "names" "((\"CL\" \"CAR\" nil))")
             (check (take-fasl 3 fasl) nil)
             (check (take-fasl 1 fasl) t)
             (check (text) "one")
             (check (< (- (get-universal-time) (file-write-date fasl)) 60) t)
             (check *needed-functions* '())
             (check (take-fasl 2 fasl) t)
             (check (text) "two")
             (check *needed-functions* '(("CL" "CAR" nil)))
             (check (with-open-file (in (kept-file 1 "fasl")) (read-line in)) "one"))
        (sb-ext:delete-directory (native-file directory) :recursive t)))))
