;;;; attach.lisp -- being a guest in an image that is somebody's

(cl:in-package #:swank-mcp)

;;; A bridge that is attached has threads in the image, and they must end with
;;; its connection, however that ends: Swank does not know them.  A thread that
;;; waits for the end of the connection's own threads sees to that.

(defun end-service (thread)
  "Make THREAD end: stop its evaluation, or, if it has none, its service."
  (let ((evaluation (with-lock () (find thread *evaluations* :key #'evaluation-thread))))
    (if evaluation
        (interrupt-evaluation evaluation :cancelled)
        (ignore-errors
         (interrupt-safely
          thread (lambda () (ignore-errors (throw 'end-of-service nil))))))))

(defun see-off (guest)
  "Take back what GUEST, which has gone, has left on, and end its threads.  One that
cannot be stopped is tried again when the next bridge comes."
  (clean-up-guest (guest-connection guest))
  (note-hooks)
  (flet ((living ()
           (remove-if-not #'swank/backend:thread-alive-p
                          (with-lock () (copy-list (guest-threads guest))))))
    (loop for pause in '(1/50 1/50 1/10 1/2 1 1 2 4 8)
          for threads = (living)
          while threads
          do (mapc #'end-service threads)
             (sleep pause))
    (unless (living)
      (with-lock () (setf *guests* (remove guest *guests*)))
      (unless *guests* (release-handles-of nil)) ; of what a person has shown
      (clean-up-guest (guest-connection guest)) ; a thread may have left more on
      (forget-dead-mailboxes))))

(defun forget-dead-mailboxes ()
  "Swank keeps one for every thread that it ever sent something to."
  #+sbcl
  (flet ((there (name) (find-symbol name '#:swank/sbcl)))
    (let ((mailboxes (there "*MAILBOXES*")) (lock (there "*MAILBOX-LOCK*"))
          (owner (there "MAILBOX.THREAD")))
      (when (and mailboxes (boundp mailboxes) (listp (symbol-value mailboxes))
                 lock (boundp lock) owner (fboundp owner))
        (sb-thread:with-mutex ((symbol-value lock))
          (setf (symbol-value mailboxes)
                (remove-if-not (lambda (mailbox)
                                 (sb-thread:thread-alive-p (funcall owner mailbox)))
                               (symbol-value mailboxes))))))))

(defun clean-up-after (bridge)
  "See off what BRIDGE, which has connected anew, and bridges that are gone have
left behind."
  (dolist (guest (with-lock () (copy-list *guests*)))
    (let* ((guest guest)
           (control (control-thread (guest-connection guest)))
           (gone (not (and control (swank/backend:thread-alive-p control)))))
      (cond (gone
             (in-own-thread "swank-mcp clean-up" (lambda () (see-off guest))))
            ;; its watcher does the rest
            ((string= bridge (guest-bridge guest))
             (swank::close-connection (guest-connection guest) nil nil))))))

(defun tune-socket (connection)
  "Send small packets at once, and find out when the other machine is gone."
  (declare (ignorable connection))
  #+(and sbcl (or linux darwin))
  (ignore-errors
   (let ((fd (sb-sys:fd-stream-fd (swank::connection.socket-io connection))))
     (flet ((option (level name value)
              (sb-alien:with-alien ((on sb-alien:int value))
                (sb-alien:alien-funcall
                 (sb-alien:extern-alien "setsockopt"
                                        (function sb-alien:int sb-alien:int sb-alien:int
                                                  sb-alien:int (* sb-alien:int) sb-alien:int))
                 fd level name (sb-alien:addr on) 4))))
       (option 6 1 1)                   ; IPPROTO_TCP TCP_NODELAY
       #+linux (option 1 9 1)           ; SOL_SOCKET SO_KEEPALIVE
       #+linux (option 6 4 60)          ; TCP_KEEPIDLE seconds
       #+linux (option 6 5 20)))))      ; TCP_KEEPINTVL

(defun attach (bridge &key served-others)
  "Begin to serve the bridge called BRIDGE on this connection.  SERVED-OTHERS is for
PUT-DEBUGGER-HOOKS-BACK.  The answer is a plist: :IMAGE,
the identity of the image; :CONTROL, the control thread, NIL without threads; :PAUSED; :POLICY, see
POLICY; :NOTE, a remark on the Lisp, or \"\"."
  (let ((connection swank::*emacs-connection*))
    (clean-up-after bridge)
    (clean-up-closed)
    (tune-socket connection)
    (setf *attached* t)
    (put-debugger-hooks-back served-others)
    (when (control-thread connection)
      (let ((guest (make-guest connection bridge)))
        (with-lock () (push guest *guests*))
        (in-own-thread "swank-mcp watch"
                       (lambda ()
                         (await-end connection)
                         (see-off guest)))))
    (answer (list :image *image-id*
                  :control (and (control-thread connection)
                                (serving-thread "swank-mcp look-ups"))
                  :paused (and *paused* t)
                  :policy (policy)
                  :note (or (missing-note) "")))))

;;; Without threads of Swank's

(defmacro within (milliseconds token form)
  "Evaluate FORM, a call of EVALUATE with TOKEN, in an image that nobody can reach
while it does so: the time limit is kept here."
  `(call-within ,milliseconds ,token (lambda () ,form)))

(defun call-within (milliseconds token function)
  #+sbcl
  (let ((timer (sb-ext:make-timer
                (lambda ()
                  (let ((evaluation (find-evaluation token)))
                    (when evaluation (stop-here evaluation :timeout))))
                :thread sb-thread:*current-thread*)))
    (sb-ext:schedule-timer timer (/ milliseconds 1000) :repeat-interval 1)
    (unwind-protect (funcall function)
      (sb-ext:unschedule-timer timer)))
  #-sbcl
  (progn milliseconds token (funcall function)))
