;;;; editors.lisp -- the Emacsen that are connected to this image, by SLIME or by Sly

(cl:in-package #:swank-mcp)

;;; Sly's Slynk is another program than Swank, which a person may have loaded beside it.  Its own
;;; names are looked up when they are needed.

(defun slynk-p ()
  "True if this image has Slynk: a package of that name that is not Swank's under another one."
  (let ((package (find-package '#:slynk)))
    (and package (not (eq package (symbol-package 'swank::with-connection))))))

(defun sly-connections ()
  "The connections of Sly that have threads."
  (when (slynk-p)
    (remove-if-not (lambda (connection)
                     (ignore-errors (funcall (named-function '#:slynk "MCONN.CONTROL-THREAD") connection)))
                   (named-value '#:slynk "*CONNECTIONS*"))))

(defun slime-connections ()
  "The connections of SLIME through which a person can be reached: those with a REPL, or else one that
is not a bridge's."
  (or (repls)
      (unless *launched*
        (let ((connection (find-if (lambda (connection)
                                     (and (control-thread connection) (not (find-guest connection))))
                                   swank::*connections*)))
          (and connection (list connection))))))

(defun slime-p (connection)
  "True if CONNECTION is SLIME's, NIL if it is Sly's."
  (typep connection 'swank::connection))

(defun editor-connected-p (connection)
  "True until CONNECTION, one of the EDITORS, has ended."
  (if (slime-p connection)
      (connectedp connection)
      (and (member connection (sly-connections)) t)))

(defun own-editor ()
  "The connection of the Emacs that has called this, or NIL."
  (let ((slime swank::*emacs-connection*))
    (if (member slime swank::*connections*)
        slime
        (find (and (slynk-p) (named-value '#:slynk "*EMACS-CONNECTION*")) (sly-connections)))))

(defun editors ()
  "The connections of Emacsen of people.  A bridge's is none."
  (append (slime-connections) (sly-connections)))

(defun call-in-sly (connection function)
  "Call FUNCTION in the context of CONNECTION, which is Sly's."
  (funcall (coerce `(lambda (connection function)
                      (,(named-symbol '#:slynk "WITH-CONNECTION") (connection) (funcall function)))
                   'function)
           connection function))

(defun tell-in-editor (connection text)
  "Show TEXT, a line, in the Emacs behind CONNECTION: in the REPL of SLIME, in the echo area of Sly."
  (cond ((member connection (repls))
         (show-in-repl connection (format nil "; swank-mcp: ~A~%" text)))
        ((not (slime-p connection))
         (call-in-sly connection
                      (lambda ()
                        (funcall (named-function '#:slynk "BACKGROUND-MESSAGE") "swank-mcp: ~A" text))))))

(defun ask-in-editor (connection question)
  "True if the person behind CONNECTION allows QUESTION, when they have answered."
  (let ((control "~A  Allow it? "))
    (if (slime-p connection)
        (swank::with-connection (connection)
          (swank:y-or-n-p-in-emacs control question))
        (call-in-sly connection
                     (lambda ()
                       (funcall (named-function '#:slynk "Y-OR-N-P-IN-EMACS") control question))))))
