;;;; safe-close.lisp -- makes our connection to a person's image safe to close.
;;;;
;;;; The bridge calls this function with the connection's stream before anything else; it is read
;;;; as inject.lisp is.  CLOSE signals an error if the stream still holds output and the peer is
;;;; gone. Swank closes all connections in one thread, or under one lock, and handles no error
;;;; there: after one, no connection could be closed any more, the person's neither.
(cl:lambda (stream)
  #+sbcl
  (cl:let* ((name (cl:find-symbol "ANSI-STREAM-MISC" "SB-KERNEL"))
            (operate (cl:funcall name stream)))
    (cl:funcall (cl:fdefinition (cl:list 'cl:setf name))
                (cl:lambda (stream operation argument)
                  (cl:handler-case (cl:funcall operate stream operation argument)
                    (cl:stream-error (condition)
                      (cl:if (cl:null argument) ; of CLOSE: whether to abort
                             (cl:funcall operate stream operation t)
                             (cl:error condition)))))
                stream))
  #-sbcl stream)
