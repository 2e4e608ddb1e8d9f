;;;; restore.lisp -- RESTORE: a session in a new image

(cl:in-package #:swank-mcp)

(defun restore (entries &key (session "default") (token 0) package file
                  (patience 0) (allowance 0))
  "Evaluate ENTRIES, ((TEXT PACKAGE-NAME MILLISECONDS) ...), of a session whose image has died, and
make PACKAGE, if it exists, the session's.  FILE is the board, where the bridge reads the
progress.  PATIENCE and ALLOWANCE are the milliseconds left for entries that do not end; see
RESTORING.  The answer is EVALUATE's, with :FAILURES ((INDEX WHY END) ...): see END-CODE."
  (let ((session (ensure-session session))
        (restoring (make-restoring :entries entries :patience (* 1000 patience)
                                   :allowance (* 1000 allowance)
                                   :board (and file (open-board file)))))
    (unwind-protect
         (multiple-value-prog1
             (call-registered (make-evaluation :token token :session session :code ""
                                               :restore restoring)
                              "COMMON-LISP-USER" 1)
           (let ((found (and package (find-package package))))
             (when found (enter-package session found))))
      (close-board (shiftf (restoring-board restoring) nil)))))
