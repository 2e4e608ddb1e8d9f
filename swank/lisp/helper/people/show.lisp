;;;; show.lisp -- SHOW, SHOW-CODE and SHOW-ERROR: a person hands something over to the agents

(cl:in-package #:swank-mcp)

(defun bridges-p ()
  "True if a bridge is connected."
  (or *launched*
      (with-lock () (some (lambda (guest) (connectedp (guest-connection guest))) *guests*))))

(defun hand-over-text (text object code &optional (token 0))
  "Have the next reply of every agent begin with what TEXT, a function of the number of a new handle for
OBJECT, returns.  TOKEN is that of a SHOWN-ERROR, or 0."
  (if (bridges-p)
      (let* ((number (remember-object object nil code))
             (handle (find number (with-lock () *handles*) :key #'handle-number)))
        (when handle (setf (handle-connection handle) nil))
        (tell-bridges "shown ~D~%The person shows you ~A: ~A" token (handle-text number)
                      (funcall text number))
        (format t "~&; The agents' next replies show ~A.~%" (handle-text number)))
      (format t "~&; No agent is connected to this image.~%"))
  (values))

(defun handle-advice (number)
  (format nil "Next: inspect-object {\"handle\": \"obj-~D\"}. In code it is (swank-mcp:object ~:*~D)." number))

(defun show (object)
  "Show OBJECT to the agents that work in this image: the next reply of each, of whatever tool, begins
with it and with a handle, which inspect-object takes.  Return no values."
  (for-people-only 'show)
  (hand-over-text (lambda (number)
                    (format nil "~A: ~A~%~A" (kind-label object)
                            (clip (safely (prin1-to-string object)) 500) (handle-advice number)))
                  object "shown by the person"))

(defun show-code (text &key file line end-line)
  "Show the TEXT of code to the agents, as SHOW does; from FILE, a name, and LINE to END-LINE if these are
known.  Return no values."
  (for-people-only 'show-code)
  (check-type text string)
  (hand-over-text (constantly (format nil "code~@[ of ~A~]~@[, line ~D~]~@[ to ~D~]~%~A"
                                      (and file (native-name file)) line end-line (clip text 10000)))
                  text "code that the person shows"))

#-sbcl
(defun show-error ()
  "Only SBCL can do this."
  (for-people-only 'show-error)
  (format t "~&; Only SBCL shows frames of other threads; (swank-mcp:show condition) shows a condition.~%")
  (values))

#+sbcl
(defun threads-in-debugger ()
  "The threads that are in Swank's debugger, this one first."
  (let ((own sb-thread:*current-thread*))
    (remove-if-not (lambda (thread)
                     (and (plusp (debugger-level thread))
                          (sb-thread:symbol-value-in-thread 'swank::*swank-debugger-condition* thread nil)))
                   (cons own (remove own (sb-thread:list-all-threads))))))

#+sbcl
(defun stack-top-in-debugger ()
  (let ((variable (named-symbol '#:swank/sbcl "*SLDB-STACK-TOP*")))
    (and variable (boundp variable) (symbol-value variable))))

#+sbcl
(defun error-in-debugger (thread)
  "The SHOWN-ERROR with which THREAD is in the debugger, or NIL if it does not answer."
  (call-in-shown-thread
   thread
   (lambda ()
     (let ((condition swank::*swank-debugger-condition*))
       (multiple-value-bind (texts total frames)
           (collect-frames *kept-frames* (user-package) :from (stack-top-in-debugger))
         (make-shown-error
          :token (new-thread-token) :thread thread :condition condition :level swank::*sldb-level*
          :report (failure (type-label condition) (condition-text condition) texts total)
          :frames frames))))))

#+sbcl
(defun show-error (&optional (thread (first (threads-in-debugger))))
  "Show the agents the error with which you are in SLDB, or THREAD is, as SHOW does.  While you are there,
their get-backtrace and inspect-frame look at its frames, under a number that the reply names; they
can do nothing else with it.  Return no values."
  (for-people-only 'show-error)
  (let ((shown (and thread (error-in-debugger thread))))
    (cond ((null thread) (format t "~&; No thread is in Swank's debugger.~%") (values))
          ((null shown) (format t "~&; The thread ~A does not answer.~%" (thread-label thread)) (values))
          (t (live-shown-errors)
             (with-lock () (push shown *shown-errors*))
             (let ((report (shown-error-report shown)))
               (hand-over-text (constantly
                                (format nil "the error with which they are in their debugger~%~A~%~A"
                                        (getf report :type) (clip (getf report :message) 2000)))
                               (shown-error-condition shown) "the person's error"
                               (shown-error-token shown)))))))
