;;;; echoes.lisp -- the queue of what is to be shown to a person who watches

(cl:in-package #:swank-mcp)

;;; While nobody watches, nothing is queued.  people/echo.lisp shows what is.

(defparameter *max-echoes* 1000
  "How many items wait to be shown; the oldest are left out.")

(defvar *echoing* nil
  "True while somebody watches.")

(defvar *echo-place* (constantly "")
  "A function that returns where it is shown, in words.")

(defvar *echoes* '() "Newest first.")
(defvar *echo-count* 0)
(defvar *echoes-left-out* 0)
#+sbcl (defvar *echo-news* (sb-thread:make-semaphore :name "swank-mcp echo"))

(defun note-echo (what action &optional type message)
  "Have it shown that WHAT, :BEGUN, :ENDED, :SUSPENDED or :GOES-ON, has happened to ACTION."
  (when *echoing*
    (with-lock ()
      (when (>= *echo-count* (* 2 *max-echoes*)) ; half of them, so that this is rare
        (setf *echoes* (first-few *echoes* *max-echoes*))
        (incf *echoes-left-out* (- *echo-count* *max-echoes*))
        (setf *echo-count* *max-echoes*))
      (push (list what action type message) *echoes*)
      (incf *echo-count*))
    #+sbcl (sb-thread:signal-semaphore *echo-news*)))

(defun take-echoes ()
  "(VALUES ITEMS LEFT-OUT): what waits to be shown, oldest first, and how much was left out."
  (with-lock ()
    (setf *echo-count* 0)
    (values (reverse (shiftf *echoes* '())) (shiftf *echoes-left-out* 0))))

(defun await-echo ()
  "Wait until there is something to be shown, a second at most."
  #+sbcl (progn (sb-thread:wait-on-semaphore *echo-news* :timeout 1)
                (loop while (sb-thread:try-semaphore *echo-news*)))
  #-sbcl (loop repeat 10 until *echoes* do (sleep 0.1)))

(defun begin-echo-p ()
  "True if nobody has watched so far."
  (with-lock () (not (shiftf *echoing* t))))

(defun end-echo-p ()
  "True if all is shown; then nobody watches any more."
  (with-lock ()
    (and (null *echoes*)
         (progn (setf *echoing* nil) t))))
