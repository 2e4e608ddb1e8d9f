;;;; echo.lisp -- what agents do, shown in the person's REPL, or where they want it

(cl:in-package #:swank-mcp)

;;; Actions are noted in a queue (session/history.lisp), and a thread of the helper's shows them, so
;;; that no evaluation waits for it.  It ends when the last bridge has gone and all is shown.
;;;
;;; SLIME puts what a :WRITE-STRING event brings above the prompt, and leaves what is being typed
;;; alone.  The event goes straight to the thread that writes to that Emacs: Swank's own way would
;;; wait for an Emacs that is busy.  An Emacs that has stopped reading misses texts, and is told so.

(defparameter *unread-limit* 500
  "With more unread messages than this, an Emacs is shown nothing until it has read.")

(defparameter *echo-lines* 10)
(defparameter *echo-columns* 200)
(defparameter *echo-values* 5)

(defparameter *unechoed-tools* '("macroexpand-form" "disassemble-function")
  "Tools that only look.")

(defvar *echo-target* :repl
  "Where the echo goes: :REPL, a stream or the name of a file.")

;;; The texts

(defun echo-text (prefix text &optional (lines *echo-lines*))
  "TEXT as comment lines, the first after PREFIX, without blank lines and shortened."
  (let ((all (with-input-from-string (in text)
               (loop for line = (read-line in nil)
                     while line
                     when (find #\space line :test-not #'eql) collect line))))
    (with-output-to-string (out)
      (format out "~A~A~%" prefix (clip (or (first all) "") *echo-columns*))
      (dolist (line (first-few (rest all) (1- lines)))
        (format out ";   ~A~%" (clip line *echo-columns*)))
      (let ((more (count-beyond all lines)) (cut (first (last all))))
        (cond ((null more))
              ((eql 0 (search "... " cut)) ; as CLIPPED ends a text
               (format out ";   ...~:[ ~:D more line~:P, and~;~*~]~A~%" (= more 1) (1- more) (subseq cut 3)))
              (t (format out ";   ... ~:D more line~:P~%" more)))))))

(defun echo-head (action)
  (format nil "; swank-mcp ~D~@[ ~A~]~:[ (~A)~;~*~]~@[ ~A~]~:[ ~A~;~*~]> "
          (action-number action) (action-client action)
          (string= "default" (action-session action)) (action-session action)
          (let ((package (action-package action)))
            (and package (string/= package "COMMON-LISP-USER") package))
          (string= "evaluate-lisp" (action-tool action)) (action-tool action)))

(defun echo-failure (number state type message)
  (echo-text (format nil "; ~D " number)
             (ecase state
               (:suspended (format nil "is suspended at ~A~%~A" type message))
               (:error (format nil "[ERROR] ~A~%~A" type message))
               ((:timeout :cancelled :stopped :lost) (format nil "[~A]" state)))))

(defun echo-end (action)
  "The text about the end of ACTION."
  (let ((number (action-number action)))
    (with-output-to-string (out)
      (dolist (text (list (action-out action) (action-err action)))
        (when (find #\space (substitute #\space #\newline text) :test-not #'eql)
          (write-string (echo-text (format nil "; ~D | " number) text) out)))
      (cond ((not (eq :done (action-state action)))
             (write-string (echo-failure number (action-state action) (action-type action)
                                         (or (action-message action) ""))
                           out))
            ((null (action-values action))
             (format out "; ~D ~A~%" number (action-text action)))
            (t (dolist (value (first-few (action-values action) *echo-values*))
                 (write-string (echo-text (format nil "; ~D => " number) value) out))
               (let ((more (count-beyond (action-values action) *echo-values*)))
                 (when more (format out ";   ... ~D more value~:P~%" more))))))))

(defun item-text (item)
  "The text of ITEM, (WHAT ACTION TYPE MESSAGE), or NIL if it is not shown."
  (destructuring-bind (what action &optional type message) item
    (unless (member (action-tool action) *unechoed-tools* :test #'equal)
      (ecase what
        (:begun (echo-text (echo-head action) (action-code action)))
        (:ended (echo-end action))
        (:suspended (echo-failure (action-number action) :suspended type (or message "")))
        (:goes-on (format nil "; ~D goes on~%" (action-number action)))))))

(defun left-out-text (count)
  (format nil "; ... ~:D more: (swank-mcp:history)~%" count))

;;; Where they go

(defun unread (thread)
  "How many messages wait for THREAD."
  #+sbcl
  (let ((mailbox (find-symbol "MAILBOX" '#:swank/sbcl))
        (queue (find-symbol "MAILBOX.QUEUE" '#:swank/sbcl)))
    (if (and mailbox (fboundp mailbox) queue (fboundp queue))
        (length (funcall queue (funcall mailbox thread)))
        0))
  #-sbcl (progn thread 0))

(defun repls ()
  "The connections with a REPL that a person has open."
  (remove-if-not (lambda (connection)
                   (and (swank::connection.user-output connection) (control-thread connection)))
                 swank::*connections*))

(defvar *echo-skipped* '()
  "(CONNECTION . COUNT) of texts that an Emacs has missed.")

(defvar *echo-columns-left* '()
  "(CONNECTION . COLUMN) of the half-written line below which the last text was put.")

(defun half-written-line-p (connection)
  "True if the REPL of CONNECTION ends in a line that the person's code has not ended."
  (let* ((column (or (ignore-errors
                      (swank/gray:stream-line-column (swank::connection.user-output connection)))
                     0))
         (known (assoc connection *echo-columns-left*))
         (newp (and (plusp column) (not (eql column (cdr known))))))
    (setf *echo-columns-left* (acons connection column (remove known *echo-columns-left*)))
    newp))

(defun show-in-repl (connection text)
  (let ((thread (control-thread connection)) (skipped (assoc connection *echo-skipped*)))
    (cond ((>= (unread thread) *unread-limit*)
           (if skipped
               (incf (cdr skipped))
               (push (cons connection 1) *echo-skipped*)))
          (t (when skipped
               (setf *echo-skipped* (remove skipped *echo-skipped*)
                     text (concatenate 'string (left-out-text (cdr skipped)) text)))
             (when (half-written-line-p connection)
               (setf text (format nil "~%~A" text)))
             (swank/backend:send thread (list :write-string text))))))

(defun show-text (text)
  (let ((target *echo-target*))
    (ignore-errors
     (etypecase target
       (stream (fresh-line target) (write-string text target) (finish-output target))
       ((or string pathname)
        (with-open-file (out target :direction :output :if-exists :append :if-does-not-exist :create
                                    #+sbcl :external-format #+sbcl :utf-8)
          (write-string text out)))
       (symbol (dolist (connection (repls))
                 (ignore-errors (show-in-repl connection text))))))))

(defun echo-target-text ()
  "Where the echo goes, in words."
  (let ((target *echo-target*) (count (length (repls))))
    (etypecase target
      (stream "the stream that the person has chosen")
      ((or string pathname) (native-name (merge-pathnames target)))
      (symbol (if (plusp count)
                  (format nil "~D REPL~:P in this image" count)
                  "no place, as no SLIME with a REPL is connected: the person may choose a stream or a file, as by (swank-mcp:echo-to *standard-output*)")))))

(setf *echo-place* #'echo-target-text)  ; for STATUS

;;; The thread

(defun show-queued ()
  "Show what is in the queue."
  (multiple-value-bind (items left-out) (take-echoes)
    (when (plusp left-out) (show-text (left-out-text left-out)))
    (dolist (item items)
      (let ((text (ignore-errors (item-text item))))
        (when text (show-text text))))))

(defun tell-what-was-missed ()
  "Tell Emacsen that read again how much they have missed."
  (loop for (connection) in *echo-skipped*
        do (if (member connection swank::*connections*)
               (when (< (unread (control-thread connection)) *unread-limit*)
                 (ignore-errors (show-in-repl connection "")))
               (setf *echo-skipped* (remove connection *echo-skipped* :key #'car)))))

(defun run-echo ()
  (loop
    (await-echo)
    (show-queued)
    (tell-what-was-missed)
    (when (and (null *guests*) (end-echo-p)) (return))))

(defun start-echo ()
  (when (begin-echo-p)
    (in-own-thread "swank-mcp echo" #'run-echo)))

(defun echo ()
  "Called by a bridge whose person wants to see what agents do.  Answer where that is shown."
  (start-echo)
  (answer (echo-target-text)))

(defun echo-to (target)
  "Have what agents do in this image shown in TARGET: a stream, the name of a file to which it is
appended, or :REPL for the REPLs of connected Emacsen, which is so if swank-mcp was started with
--echo.  Print where that is.  Return no values."
  (for-people-only 'echo-to)
  (check-type target (or stream string pathname (eql :repl)))
  (if (or *launched* (null *guests*))
      (format t "~&; No agent is connected to this image.~%")
      (progn (setf *echo-target* (if (stringp target) (merge-pathnames target) target))
             (start-echo)
             (format t "~&; What agents do is shown in ~A.~%" (echo-target-text))))
  (values))
