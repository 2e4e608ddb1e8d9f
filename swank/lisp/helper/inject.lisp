;;;; inject.lisp -- loads the helper into an image that a person runs.
;;;;
;;;; It is a function that the bridge calls over the connection.  It is read in a package of its
;;;; own, SWANK-MCP-INJECT, in which only T, NIL and QUOTE of COMMON-LISP need no prefix.  It
;;;; answers (:PRESENT note), (:SOURCE-WANTED ""), (:OTHER-VERSION "") or (:FAILED why).  It
;;;; prints nothing and changes no variable of the image.  After each part of the helper it sends
;;;; the bridge a message, by which callers know that waiting is of use.
(cl:lambda (hash files sources)
  (cl:labels
      ((ours (name)
         (cl:let ((package (cl:find-package "SWANK-MCP")))
           (cl:and package (cl:find-symbol name package))))
       (present ()
         (cl:let ((symbol (ours "*SOURCE-HASH*")))
           (cl:and symbol (cl:boundp symbol) (cl:string= hash (cl:symbol-value symbol)))))
       (native (name)
         #+sbcl (sb-ext:parse-native-namestring name)
         #-sbcl (cl:pathname name))
       (fasl ()
         ;; there is one for each compiler and each Swank
         (native (cl:format nil "~A-~A-~A-~A.fasl" (cl:subseq (cl:first files) 0 (cl:- (cl:length (cl:first files)) 5))
                            (cl:substitute-if-not #\_ #'cl:alphanumericp
                                                  (cl:lisp-implementation-version))
                            (cl:symbol-value 'swank::*swank-wire-protocol-version*)
                            (cl:ignore-errors
                             (cl:file-write-date
                              (cl:merge-pathnames "swank.lisp" swank-loader:*source-directory*))))))
       (quietly (function)
         (cl:let ((nowhere (cl:make-broadcast-stream)))
           (cl:with-standard-io-syntax
             (cl:let ((cl:*standard-output* nowhere) (cl:*error-output* nowhere)
                      (cl:*trace-output* nowhere) (cl:*print-readably* nil)
                      (cl:*load-verbose* nil) (cl:*load-print* nil)
                      (cl:*compile-verbose* nil) (cl:*compile-print* nil)
                      (cl:*macroexpand-hook* 'cl:funcall) (cl:*break-on-signals* nil)
                      (cl:*gensym-counter* 0)
                      #+sbcl (sb-ext:*evaluator-mode* :compile))
               (cl:handler-bind ((cl:warning #'cl:muffle-warning)
                                 #+sbcl (sb-ext:compiler-note #'cl:muffle-warning))
                 (cl:with-compilation-unit (:override t)
                   (cl:funcall function)))))))
       (tell ()
         (swank::send-to-emacs (cl:list :background-message "swank-mcp loading")))
       (append-file (from to)
         (cl:with-open-file (in from :element-type '(cl:unsigned-byte 8))
           (cl:loop for octet = (cl:read-byte in nil)
                    while octet do (cl:write-byte octet to))))
       (compile-to (whole part)
         ;; concatenated fasls are a fasl
         (cl:with-open-file (out whole :direction :output :if-exists :supersede
                                       :element-type '(cl:unsigned-byte 8))
           (cl:dolist (file files whole)
             (cl:compile-file (native file) :output-file part)
             (append-file part out)
             (cl:delete-file part)
             (tell))))
       (compiled ()
         (cl:or (cl:probe-file (fasl))
                (cl:let ((whole (cl:format nil "~A.~A.tmp" (cl:namestring (fasl))
                                           (swank/backend:getpid))))
                  (cl:and (cl:ignore-errors
                           (cl:rename-file
                            (compile-to (native whole)
                                        (native (cl:concatenate 'cl:string whole "-part")))
                            (fasl)))
                          (fasl)))))
       (load-it ()
         (cl:cond (sources
                   (cl:dolist (source sources t)
                     (cl:with-input-from-string (in source) (cl:load in))
                     (tell)))
                  ((cl:or (cl:null files)
                          (cl:notevery (cl:lambda (file) (cl:probe-file (native file))) files))
                   nil)
                  ;; ECL's file compiler needs a C compiler and a minute; loading source
                  ;; makes bytecode
                  #+ecl (t (cl:dolist (file files t) (cl:load (native file)) (tell)))
                  (t (cl:let ((fasl (compiled)))
                       (cl:and fasl
                               (cl:handler-case (cl:load fasl)
                                 (cl:error () (cl:ignore-errors (cl:delete-file fasl)) nil)))))))
       (inject ()
         (cl:let ((old (cl:find-package "SWANK-MCP")) (in-use (ours "*GUESTS*")))
           (cl:cond ((present) (cl:list :present ""))
                    ((cl:and in-use (cl:boundp in-use) (cl:symbol-value in-use))
                     (cl:list :other-version ""))
                    (t (cl:when old (cl:delete-package old))
                       (cl:cond ((quietly #'load-it)
                                 (cl:setf (cl:symbol-value (cl:intern "*SOURCE-HASH*" "SWANK-MCP")) hash)
                                 (cl:list :present
                                          (cl:if old
                                                 "The image had the helper of another version of swank-mcp; what that one knew of the session is gone, its definitions are not."
                                                 "")))
                                (t (cl:list :source-wanted ""))))))))
    (cl:handler-case
        (cl:let ((with-lock #+sbcl (cl:find-symbol "WITH-WORLD-LOCK" "SB-C") #-sbcl nil))
          (cl:if with-lock
                 (cl:eval (cl:list with-lock '() (cl:list 'cl:funcall #'inject)))
                 (inject)))
      (cl:serious-condition (condition)
        (cl:list :failed (cl:handler-case (cl:princ-to-string condition)
                           (cl:error () (cl:string (cl:type-of condition)))))))))
