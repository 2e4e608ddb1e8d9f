;;;; session-threads.lisp -- threads that a session's code starts

(cl:in-package #:swank-mcp)

;;; Such a thread belongs to the session, and so does what it defines.  An error in it must not
;;; open a debugger while a person types, and EXIT in it must not end the image.  The session's
;;; next reply says what became of it.

(defun refuse-exit-of-thread (session)
  (note-news session
             (format nil "~A asked the Lisp image to end. The image was not ended: the session lives in it; ~
                          the thread was." (thread-words)))
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
  (let ((exit-timeout sb-ext:*exit-timeout*))
    (catch-ending 'sbcl:%end-of-the-world
                  (lambda ()
                    (if *launched*
                        (funcall function)
                        (call-with-debugger-hooks
                         function (lambda (condition) (end-erring-thread session condition)))))
                  (lambda ()
                    (forget-exit exit-timeout)
                    (refuse-exit-of-thread session)))))

(defun session-thread-function (function)
  "A function for a new thread that calls FUNCTION as the session's."
  (let ((session *noting*) (toplevel *toplevel*)
        (hook *macroexpand-hook*) (plist sbcl:*source-plist*))
    (lambda (&rest arguments)
      (let ((*noting* session) (*toplevel* toplevel) (*macroexpand-hook* hook)
            (sbcl:*source-plist* plist))
        (call-as-session-thread session (lambda () (apply function arguments)))))))

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
