;;;; hostile-test.lisp -- what programs and people may do that would upset the
;;;; helper; loaded by helper-test.lisp

(cl:in-package #:swank-mcp)

;;; Status is asked for while the session defines.

(let* ((session (ensure-session "busy"))
       (definer (sb-thread:make-thread
                 (lambda ()
                   (handler-case (dotimes (i 30000 :done)
                                   (enter-definition session (cons :variable (format nil "~D" i))))
                     (error (condition) (princ-to-string condition)))))))
  (check (handler-case (loop while (sb-thread:thread-alive-p definer)
                             do (own-definitions session)
                             finally (return :done))
           (error (condition) (princ-to-string condition)))
         :done)
  (check (sb-thread:join-thread definer) :done)
  (clrhash (session-definitions session))

  ;; a definition that has been noted and is not made yet is not forgotten
  (let ((evaluation (make-evaluation :token 1 :session session :thread definer)))
    (enter-definition session '(:function . made-soon))
    (register evaluation)
    (check (own-definitions session) '())
    (unregister evaluation)
    (let ((sb-c::*source-plist* '(:swank-mcp "busy")))
      (eval '(defun made-soon () 1)))
    (check (own-definitions session) '((:function . made-soon)))
    (fmakunbound 'made-soon)
    (check (own-definitions session) '())
    (check (hash-table-count (session-definitions session)) 0)))

;;; Code with circular literals

(check (mapcar #'second
               (getf (evaluated "(progn (defun before () 1) (defparameter *circle* '#1=(1 (2 . #1#) . #1#)))
                                 (fmakunbound 'before) (makunbound '*circle*)"
                                :package "SWANK-MCP")
                     :journal))
       '("(DEFUN BEFORE NIL 1)"
         "(DEFPARAMETER *CIRCLE* (QUOTE #1=(1 (2 . #1#) . #1#)))"))

;;; The form of an EQL specializer is not evaluated again.

(evaluated "(defvar *evaluated* 0) (defgeneric specialized (x))
            (defmethod specialized ((x (eql (incf *evaluated*)))) 1)
            (defmethod specialized ((x (eql ':key))) 2)
            (defmethod specialized :around ((x integer)) (call-next-method))"
           :package "SWANK-MCP")
(check (count :method (own-definitions (ensure-session "test")) :key #'car) 3)
(check (symbol-value '*evaluated*) 1)
(check (find-defined-method '(specialized () ((eql ':other)))) nil)
(check (find-defined-method '(specialized () (integer))) nil)
(check (count :method (own-definitions (ensure-session "test")) :key #'car) 3)
(undefine :method '(specialized () ((eql ':key))))
(check (count :method (own-definitions (ensure-session "test")) :key #'car) 2)
(fmakunbound 'specialized)
(makunbound '*evaluated*)

;;; Somebody debugs in this image.  A session does not see it, and what it sets itself
;;; is its own.

(flet ((answer-of (function &rest arguments)
         (let ((*break-on-signals* 'error) (*debugger-hook* nil)
               (sb-ext:*invoke-debugger-hook* (lambda (condition hook)
                                                (declare (ignore hook))
                                                (throw 'broken (list :broken (princ-to-string condition))))))
           (with-standard-io-syntax
             (let ((text (catch 'broken
                           (with-output-to-string (*standard-output*) (apply function arguments)))))
               (if (stringp text) (read-from-string text) text))))))
  (check (getf (getf (answer-of #'evaluate "(error 'program-error)" :session "debugs") :error) :type)
         "PROGRAM-ERROR")
  (check (getf (answer-of #'evaluate "(list (ignore-errors (error \"x\")) (setf *break-on-signals* 'error))"
                          :session "debugs")
               :values)
         '(("(NIL ERROR)")))
  (check (getf (getf (answer-of #'evaluate "(ignore-errors (error \"x\"))" :session "debugs") :error) :type)
         "SIMPLE-CONDITION")
  (check (getf (answer-of #'evaluate "(values (ignore-errors (error \"x\")))" :session "debugs not") :values)
         '(("NIL")))
  (check (first (answer-of #'describe-symbol "car" :session "debugs")) :title)
  (check (getf (getf (answer-of #'describe-symbol "no-such-name" :session "debugs") :error) :type)
         "SYMBOL-NOT-FOUND"))
(check *break-on-signals* nil)
