;;;; lookups.lisp -- look-ups: their answers, errors and time limit

(cl:in-package #:swank-mcp)

(defun call-with-listing-syntax (function)
  (with-standard-io-syntax
    (let ((*package* (find-package '#:common-lisp-user))
          (*print-readably* nil) (*print-pretty* nil) (*print-circle* t)
          (*print-length* 20) (*print-level* 4))
      (funcall function))))

(defun name-text (name) (safely (prin1-to-string name)))

(defvar *lookup-seconds* 6
  "For how many seconds that it can use a look-up may take.  It may print objects by methods of the
user's, which may do anything.")

(defparameter *lookup-deadline* 9
  "After how many seconds a look-up ends in any case: before the bridge's caller goes.")

(defun call-with-time-limit (seconds function late &optional (deadline seconds))
  "The values of FUNCTION; if it could use SECONDS before it returns, or DEADLINE seconds have passed,
those of LATE, called with advice on the lock for which FUNCTION waits, or NIL."
  #+sbcl
  (block nil
    (let* ((activep t) (thread sb-thread:*current-thread*)
           (meter (thread-meter thread)) (left (* 1000000 seconds)) (waits left) (timer nil)
           (end (+ (microseconds) (* 1000000 deadline))))
      (flet ((give-up ()
               (let ((lock (ignore-errors (lock-advice thread))))
                 (ignore-errors         ; it may have ended
                  (interrupt-safely
                   thread (lambda () (when activep (return (funcall late lock))))))))
             (wait ()
               (setf waits (max 20000 (min left (- end (microseconds)))))
               (sb-ext:schedule-timer timer (/ waits 1000000))))
        (setf timer (sb-ext:make-timer
                     (lambda ()
                       (decf left (funcall meter waits))
                       (cond ((or (<= left 0) (>= (microseconds) end)) (give-up))
                             (activep (wait))))
                     :thread t))        ; an interrupted thread does not count as waiting
        (wait))
      (unwind-protect (funcall function)
        (setf activep nil)
        (sb-ext:unschedule-timer timer))))
  #-sbcl (progn seconds late (funcall function)))

(defun failure-for-wire (failure)
  (list :error (list :type (failure-type failure) :message (failure-message failure)
                     :names (failure-names failure))))

(defvar *file-texts* nil
  "A hash table from file to text during a look-up, or NIL.")

(defun call-looking-up (session function)
  "Answer what FUNCTION, called with the session named SESSION, returns; or
(:ERROR (:TYPE :MESSAGE :NAMES)) if it signals an error, takes too long, or calls code of the
program's that asks the image to end."
  (let ((session (ensure-session session)) (*break-on-signals* nil) (begun (microseconds))
        (*file-texts* (make-hash-table :test 'equal)))
    (flet ((look ()
             (handler-bind ((warning #'muffle))
               (handler-case (call-with-listing-syntax (lambda () (funcall function session)))
                 (lookup-failure (failure) (failure-for-wire failure))
                 (serious-condition (condition)
                   (list :error (list :type (type-label condition)
                                      :message (clip (condition-text condition) 2000)))))))
           (late (lock)
             (list :error (list :type "TIMEOUT"
                                :message (format nil "The look-up had not ended after ~D second~:P, and was stopped.~@[ ~A~]"
                                                 (ceiling (- (microseconds) begun 500000) 1000000) lock)))))
      (answer (call-with-time-limit *lookup-seconds*
                                    (lambda () (call-as-look-up #'look))
                                    #'late *lookup-deadline*)))))

(defun call-as-look-up (function)
  "Call FUNCTION, a look-up; refuse if a method of the program's asks the image to end."
  (block nil
    (call-refusing-exit
     function
     (lambda (what)
       (return
         (list :error (list :type "EXIT-REFUSED"
                            :message (format nil "A method of the program's that the look-up called asked ~A to end. It is not ended." what)))))
     "the thread that looks")))

(defmacro with-look-up ((session) &rest body)
  "Answer what BODY returns; see CALL-LOOKING-UP.  The variable SESSION has the session's name, and
in BODY the session."
  `(call-looking-up ,session (lambda (,session) (declare (ignorable ,session)) ,@body)))
