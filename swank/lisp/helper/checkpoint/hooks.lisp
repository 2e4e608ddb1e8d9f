;;;; hooks.lisp -- calling the functions of *BEFORE-CHECKPOINT* and *AFTER-RESTORE*

(cl:in-package #:swank-mcp)

;;; They are called on a thread of their own, with the global values of all variables.  It counts
;;; as one that code of the session has started, and so do the threads that they start.  What is
;;; printed goes where such threads print.

(defparameter *hook-seconds* 3
  "How long the functions of a list may take together, of the time in which they and the program's
threads could act.")

(defun join-able (thread seconds)
  "Return when THREAD has ended, or when it and the program's threads, for which it may wait, could act
for SECONDS."
  (loop with over = (make-patience seconds
                                   (lambda () (mapcar #'thread-system-number (cons thread (users-threads))))
                                   1/20)
        do (sb-thread:join-thread thread :default nil :timeout 1/20)
        while (sb-thread:thread-alive-p thread)
        until (funcall over)))

(defvar *told-trouble* nil
  "What the session was last told of a checkpoint that was not taken, or NIL.")

(defun trouble-of (function name)
  "Call FUNCTION.  Return NIL, or a text about an error in it that nobody handled."
  (block nil
    (call-with-debugger-hooks
     (lambda () (funcall function) nil)
     (lambda (condition)
       (return (format nil "~A: ~A: ~A" name (type-label condition)
                       (clip (condition-text condition) 500)))))))

(defun troubles-of (variable tell)
  "Call the functions in the list that is the value of VARIABLE, and TELL before each with its
name.  Return texts about those that failed."
  (let* ((troubles '())
         (list-trouble
           (trouble-of (lambda ()
                         (dolist (function (symbol-value variable))
                           (let ((name (clip (name-text function) 80)))
                             (funcall tell name)
                             (let ((trouble (trouble-of function name)))
                               (when trouble (push trouble troubles))))))
                       "as a list of functions")))
    (nreverse (if list-trouble (cons list-trouble troubles) troubles))))

(defun call-hooks (variable session)
  "Call the functions in VARIABLE for SESSION, within *HOOK-SECONDS*.  Return NIL, or a text about
what went wrong."
  (let* ((troubles nil) (done nil) (name nil)
         (thread (let ((*noting* session))
                   (sb-thread:make-thread
                    (lambda ()
                      (setf troubles (troubles-of variable (lambda (next) (setf name next)))
                            done t))
                    :name "swank-mcp hooks"))))
    (join-able thread *hook-seconds*)
    (cond (done)
          ((sb-thread:thread-alive-p thread)
           (let ((lock (lock-text thread)))
             (ignore-errors (interrupt-safely thread #'sb-thread:abort-thread))
             (join-able thread 1/2)
             (setf troubles
                   (list (format nil "~A: it took longer than ~D seconds and ~:[was ended~;could not be ended~]~@[; it ~A~]"
                                 name *hook-seconds* (sb-thread:thread-alive-p thread) lock)))))
          (t (setf troubles (list (format nil "~A: its thread was ended" name)))))
    (and troubles
         (format nil "SWANK-MCP:~A: ~{~A~^; ~}" variable troubles))))

(defun prepare-checkpoint (session by-itself)
  "Call what the program wants to be called before a checkpoint.  Return NIL, or a text about what
went wrong, which SESSION is told, once, if nobody has asked for the checkpoint."
  (let ((trouble (and *before-checkpoint* (call-hooks '*before-checkpoint* session))))
    (when (and by-itself trouble (not (equal trouble *told-trouble*)))
      (note-news session (format nil "No checkpoint was taken: ~A" (as-sentence trouble))))
    (setf *told-trouble* trouble)))

(defun after-restore (&optional (session "default"))
  "Call what the program wants to be called after a checkpoint, in this image, which goes on.
SESSION is told what went wrong."
  (let* ((session (ensure-session session))
         (trouble (and *after-restore* (call-hooks '*after-restore* session))))
    (when trouble (note-news session (as-sentence trouble)))
    (answer t)))
