;;;; leaving.lisp -- what a bridge has left on in an image that is somebody's

(cl:in-package #:swank-mcp)

(defun let-go (connection)
  "Take back what the bridge behind CONNECTION has left on in the person's image."
  (forget-traces-of connection)
  (release-handles-of connection))

(defun let-go-of-closed ()
  "Without threads of Swank's nobody waits for the end of a connection: the next
bridge finds what was left."
  (dolist (connection (with-lock ()
                        (remove-duplicates (append (mapcar #'fourth *traced*)
                                                   (mapcar #'handle-connection *handles*)))))
    (unless (or (null connection)
                (ignore-errors (open-stream-p (swank::connection.socket-io connection))))
      (let-go connection))))
