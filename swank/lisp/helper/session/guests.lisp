;;;; guests.lisp -- the bridges that are attached to an image that is somebody's

(cl:in-package #:swank-mcp)

(defstruct (guest (:constructor make-guest (connection bridge)) (:copier nil))
  connection bridge (threads '())
  (sessions '()) (news '()))            ; see joining.lisp

(defvar *guests* '()
  "A GUEST for each bridge that is attached, or that has left threads behind.")

(defvar *image-id* (format nil "~36R" (random (expt 36 12) (make-random-state t)))
  "Tells this image from one that is started at the same address later.")

(defvar *paused* nil
  "True while evaluations of bridges that would begin are refused; see people/pause.lisp.")

(defun find-guest (connection)
  (with-lock () (find connection *guests* :key #'guest-connection)))

(defun note-guest-thread (connection thread)
  "A no-op in an image that was launched, where the threads end with the image."
  (let ((guest (find-guest connection)))
    (when guest
      (with-lock ()
        (setf (guest-threads guest)
              (cons thread (remove-if-not #'swank/backend:thread-alive-p
                                          (guest-threads guest))))))))

(defun control-thread (connection)
  "Swank's thread that lives as long as CONNECTION; NIL without threads."
  (and (typep connection 'swank::multithreaded-connection)
       (swank::mconn.control-thread connection)))

(defun connectedp (connection)
  "True until CONNECTION has ended."
  (let ((thread (control-thread connection)))
    (if thread
        (swank/backend:thread-alive-p thread)
        (member connection swank::*connections*))))

(defun tell-bridges (control &rest arguments)
  "Send a message to every bridge, which reads its first word; see swank/lisp/people.go."
  (let ((text (format nil "swank-mcp ~?" control arguments)))
    (dolist (connection (if *launched*
                            swank::*connections*
                            (with-lock () (mapcar #'guest-connection *guests*))))
      (let ((thread (control-thread connection)))
        (when (and thread (connectedp connection))
          (ignore-errors (swank/backend:send thread (list :background-message text))))))))

(defun await-end (connection)
  "Return when CONNECTION has ended."
  (let ((thread (control-thread connection)))
    #+sbcl (sb-thread:join-thread thread :default nil)
    #-sbcl (loop while (swank/backend:thread-alive-p thread) do (sleep 1))))

(defun in-own-thread (name function)
  (swank/backend:spawn function :name name))

(defun own-guest ()
  (let ((connection (or (own-connection)
                        (let ((debuggee (and *evaluation* (evaluation-debuggee *evaluation*))))
                          (and debuggee (debuggee-connection debuggee))))))
    (and connection (find-guest connection))))

(defun other-guests (name)
  "The guests that work in the session NAME, but for the one that asks."
  (let ((own (own-guest)))
    (with-lock ()
      (remove-if-not (lambda (guest)
                       (and (not (eq guest own))
                            (member name (guest-sessions guest) :test #'string=)
                            (connectedp (guest-connection guest))))
                     *guests*))))

(defun tell-others (name text)
  "Have the other guests in the session NAME told TEXT with their next reply."
  (dolist (guest (other-guests name))
    (with-lock ()
      (unless (member text (guest-news guest) :test #'string=)
        (push text (guest-news guest))))))

(defun take-guest-news ()
  (let ((guest (and *guests* (own-guest))))
    (and guest (guest-news guest)
         (with-lock () (reverse (shiftf (guest-news guest) '()))))))
