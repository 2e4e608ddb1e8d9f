;;;; guest-cleanup.lisp -- traces and objects that a bridge has left in a person's image

(cl:in-package #:swank-mcp)

(defun clean-up-guest (connection)
  "End the traces and the suspended evaluations, and release the objects, of the bridge behind
CONNECTION."
  (end-suspended-of connection)
  (forget-traces-of connection)
  (release-handles-of connection))

(defun clean-up-closed ()
  "Clean up after connections that have ended.  If Swank uses no threads, nobody waits for the end
of a connection, so the next bridge calls this."
  (dolist (connection (with-lock ()
                        (remove-duplicates (append (mapcar #'fourth *traced*)
                                                   (mapcar #'handle-connection *handles*)))))
    (unless (or (null connection)
                (ignore-errors (open-stream-p (swank::connection.socket-io connection))))
      (clean-up-guest connection))))
