;;;; session-threads.lisp -- threads that a session's code starts

(cl:in-package #:swank-mcp)

;;; Such a thread belongs to the session, and so does what it defines.  An error in it must not
;;; open a debugger while a person types, and EXIT in it must not end the image.  The session's
;;; next reply says what became of it.  See suspended-threads.lisp for one that is to wait.

(defun refuse-exit-of-thread (session)
  (note-news session
             (format nil "~A asked the Lisp image to end. The image was not ended: the session lives in it; ~
                          the thread was." (thread-words)))
  (sb-thread:abort-thread))

(defun handle-error-of-thread (session condition abort)
  "CONDITION is unhandled in this thread: it becomes the last error of SESSION.  The thread waits in
the debugger, with ABORT as its last restart, if it is to and can; or it is ended."
  (let ((evaluation (thread-as-evaluation session)) (*package* (user-package)))
    (multiple-value-bind (report frames)
        (call-guarded (lambda () (condition-report condition nil))
                      (lambda (trouble) (plain-report condition trouble)))
      (setf (getf report :condition) condition)
      (note-last-error session evaluation report)
      (let ((obstacle (and *thread-debugging*
                           (suspend-thread evaluation condition report frames abort))))
        (if *launched*
            (report-erring-thread report obstacle)
            (end-erring-thread session condition))))))

(defun write-report (text)
  "Write TEXT to standard error at once, past SB-SYS:*STDERR*: where two threads flush that at the
same time, as each evaluation does at its end, both write what is in its buffer."
  (let ((octets (sb-ext:string-to-octets text :external-format '(:utf-8 :replacement #\?)))
        (start 0))
    (loop while (< start (length octets))
          do (incf start (or (sbcl:unix-write 2 octets start (- (length octets) start))
                             (return))))))

(defun report-erring-thread (report obstacle)
  "Write REPORT, and why the thread does not wait in the debugger, to standard error, and end it."
  (ignore-errors
   (write-report
    (format nil "~&; error in thread ~S: ~A: ~A~%~:{~D: ~A~%~}~@[; Not left in the debugger: ~A.~%~]"
            (thread-label sb-thread:*current-thread*) (getf report :type) (getf report :message)
            (loop for frame in (getf report :frames) for number from 0 collect (list number frame))
            obstacle)))
  (sb-thread:abort-thread))

(defun end-erring-thread (session condition)
  (note-news session
             (format nil "~A met an error that nobody handled, and was ended. ~A: ~A~@[ It was at ~{~A~^, called by ~}.~]"
                     (thread-words) (type-label condition)
                     (as-sentence (clip (condition-text condition) 1000))
                     (mapcar (lambda (text) (clip (substitute #\space #\newline text) 200))
                             (ignore-errors (collect-frames 4 (user-package))))))
  (sb-thread:abort-thread))

(defun call-as-session-thread (session function)
  "Call FUNCTION in a thread that SESSION's code has started.  A launched image reports its errors
on standard error, as those of any thread."
  (let ((exit-timeout sb-ext:*exit-timeout*) (abort (find-restart 'abort)))
    (catch-ending 'sbcl:%end-of-the-world
                  (lambda ()
                    (call-with-debugger-hooks
                     function
                     (lambda (condition)
                       (cond ((not (typep condition 'storage-condition))
                              (handle-error-of-thread session condition abort))
                             ;; nothing is left to look at it with
                             (*launched* (funcall (sb-ext:symbol-global-value
                                                   'sb-ext:*invoke-debugger-hook*)
                                                  condition nil))
                             (t (end-erring-thread session condition))))))
                  (lambda ()
                    (forget-exit exit-timeout)
                    (refuse-exit-of-thread session)))))

(defun session-thread-function (function)
  "A function for a new thread that calls FUNCTION as the session's."
  (let ((session *noting*) (toplevel *toplevel*) (debugging (thread-debugging))
        (hook *macroexpand-hook*) (plist sbcl:*source-plist*))
    (lambda (&rest arguments)
      (let ((*noting* session) (*toplevel* toplevel) (*macroexpand-hook* hook)
            (sbcl:*source-plist* plist) (*thread-debugging* debugging))
        (call-as-session-thread session (lambda () (apply #'do-work function arguments)))))))

(defun start-session-thread (make function options)
  (let* ((base (heap-used)) (session *noting*)
         (thread (apply make (session-thread-function function) options)))
    (with-lock ()
      (push (make-session-thread :thread thread :session session :base base) *session-threads*))
    thread))

(defun watch-threads ()
  "Encapsulate MAKE-THREAD, to know the threads that a session's code starts."
  (unless (sbcl:encapsulated-p 'sb-thread:make-thread 'swank-mcp-definitions)
    (sbcl:encapsulate
     'sb-thread:make-thread 'swank-mcp-definitions
     (lambda (make function &rest options)
       (if *noting*
           (start-session-thread make function options)
           (apply make function options))))))

(defun leave-threads-alone ()
  (sbcl:unencapsulate 'sb-thread:make-thread 'swank-mcp-definitions))
