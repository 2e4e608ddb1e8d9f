;;;; forgive.lisp -- the first thing that the bridge does on a connection to an image
;;;; that is somebody's.
;;;;
;;;; It is a function of the connection's stream, read as bring.lisp is.  Swank closes
;;;; everybody's connections in one thread, or under one lock, and expects no error
;;;; there: with one, no connection would end any more, the person's neither.  CLOSE
;;;; signals one if the stream still holds output and the peer is gone.
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
