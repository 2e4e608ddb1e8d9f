;;;; image.lisp - the image of the service LISP in docker-compose.yml.
;;;;
;;;; Stock Swank, started by SWANK:CREATE-SERVER, made fit for a service that
;;;; nobody watches.  Loading this file loads Swank; SAVE makes the core that
;;;; the container starts.  Nothing here is needed by swank-mcp: any image that
;;;; serves Swank will do.

(load "/usr/share/common-lisp/source/slime/swank-loader.lisp")
(swank-loader:init)

(defpackage :swank-service
  (:use :common-lisp)
  (:export #:save #:main))

(in-package :swank-service)

(defconstant +port+ 4005)

(defconstant +patience+ 5
  "Seconds that a client has to show the secret.  Swank lets in one at a time.")

(defun note (control &rest arguments)
  (format sb-sys:*stderr* "~&; ~?~%" control arguments)
  (finish-output sb-sys:*stderr*))

;;; As it comes, Swank ends its listening thread, or the whole process, when a
;;; client shows no secret or a wrong one: whoever can reach the port could end
;;; the service.  Here it costs the client its connection and nobody else anything.

(defun authenticate-in-time (authenticate stream)
  (let ((known nil))
    (unwind-protect
         (progn
           (sb-ext:with-timeout +patience+
             (funcall authenticate stream))
           (setf known t))
      (unless known
        (close stream :abort t)))))

(defun accept-and-go-on (accept &rest arguments)
  (handler-case (apply accept arguments)
    (serious-condition (c)
      (note "refused a connection: ~A" c)
      (sleep 0.1))))                    ; no busy loop when ACCEPT itself fails

;;; A client that is killed while Swank writes to it makes closing its connection
;;; fail: Swank would keep the connection, and lose the thread that closes them.

(defun close-in-any-case (close connection &rest arguments)
  (handler-case (apply close connection arguments)
    (stream-error ()
      (ignore-errors (close (swank::connection.socket-io connection) :abort t))
      (setf swank::*connections* (remove connection swank::*connections*))
      (forget-dead-mailboxes connection))))

;;; Swank keeps the mailbox of each thread for ever; a health check every few
;;; seconds would fill the image with them.

(defun forget-dead-mailboxes (connection)
  (declare (ignore connection))
  (sb-thread:with-mutex (swank/sbcl::*mailbox-lock*)
    (setf swank/sbcl::*mailboxes*
          (delete-if-not #'sb-thread:thread-alive-p swank/sbcl::*mailboxes*
                         :key #'swank/sbcl::mailbox.thread))))

;;; An error in a thread that no client waits for goes to the log, and ends the
;;; thread.  Swank would open a debugger in the newest connection, which may be
;;; a health check.

(defun report-and-abort (condition hook)
  (declare (ignore hook))
  (note "error in thread ~S: ~A" (sb-thread:thread-name sb-thread:*current-thread*) condition)
  (sb-debug:print-backtrace :stream sb-sys:*stderr* :count 30)
  (finish-output sb-sys:*stderr*)
  (if (eq sb-thread:*current-thread* (sb-thread:main-thread))
      (sb-ext:exit :code 1 :abort t)
      (sb-thread:abort-thread)))

(defun install ()
  (sb-int:encapsulate 'swank::authenticate-client 'swank-service #'authenticate-in-time)
  (sb-int:encapsulate 'swank::accept-connections 'swank-service #'accept-and-go-on)
  (sb-int:encapsulate 'swank::close-connection% 'swank-service #'close-in-any-case)
  (swank::add-hook swank::*connection-closed-hook* 'forget-dead-mailboxes)
  (setf swank::*global-debugger* nil
        sb-ext:*invoke-debugger-hook* #'report-and-abort))

(defun require-secret ()
  (unless (plusp (length (ignore-errors (swank::slime-secret))))
    (note "~A.slime-secret is missing, empty or unreadable: refusing to serve without a secret"
          (sb-ext:native-namestring (user-homedir-pathname)))
    (sb-ext:exit :code 1 :abort t)))

(defun main ()
  "Serve Swank until the container is stopped."
  (install)
  (require-secret)
  (sb-sys:enable-interrupt sb-unix:sigterm
                           (lambda (&rest ignore)
                             (declare (ignore ignore))
                             (sb-ext:exit :code 0 :abort t)))
  (setf *package* (find-package :cl-user))
  (swank:create-server :interface "0.0.0.0" :port +port+ :style :spawn :dont-close t)
  (loop (sleep 3600)))

(defun save (file)
  "Save this image to FILE, to start with MAIN, and end it."
  (sb-ext:save-lisp-and-die file :toplevel #'main))
