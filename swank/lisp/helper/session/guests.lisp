;;;; guests.lisp -- the bridges that are attached to an image that is somebody's

(cl:in-package #:swank-mcp)

(defstruct (guest (:constructor make-guest (connection bridge)) (:copier nil))
  connection bridge (threads '())
  name                                  ; client's name and version
  client                                ; by which people know it; see NAME-GUEST
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

;;; Swank's sentinel puts a connection into the list of connections a moment after that has begun to
;;; serve.  On a busy machine the moment is long enough for a whole evaluation, whose questions would
;;; be told to nobody.
(defun await-own-connection ()
  "Return when Swank has this thread's connection in its list, or it has ended."
  (let ((connection (own-connection)))
    (when (control-thread connection)
      (loop until (or (member connection swank::*connections*)
                      (not (connectedp connection)))
            do (sleep 0.001)))))

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

(defun own-guest () (guest-of *evaluation*))

(defun guest-of (evaluation)
  "The guest whose request this thread serves, for EVALUATION or without one."
  (let ((connection (or (own-connection)
                        (let ((debuggee (and evaluation (evaluation-debuggee evaluation))))
                          (and debuggee (debuggee-connection debuggee))))))
    (and connection (find-guest connection))))

(defun name-guest (guest name)
  "Note that the client of GUEST has that NAME.  Where another one has it, too, people know it as
NAME #2."
  (unless (equal name (guest-name guest))
    (let ((others (with-lock () (remove guest *guests*))) (short (on-one-line (clip name 60))))
      (setf (guest-name guest) name
            (guest-client guest)
            (loop for number from 1
                  for text = (if (= number 1) short (format nil "~A #~D" short number))
                  unless (find-if (lambda (other)
                                    (and (equal text (guest-client other))
                                         (not (equal (guest-bridge guest) (guest-bridge other)))
                                         (connectedp (guest-connection other))))
                                  others)
                    return text)))))

;;; For whom calls are

(defvar *caller* nil
  "CALLER of the call that this thread carries out and that names it; or NIL.  Calls of a session that
come meanwhile on other threads may be for others.")

(defun caller (session &optional (guest (own-guest)))
  "(CLIENT TOOL PERSONP): for whom and by which tool the calls of GUEST in SESSION are, and whether they
are a person's."
  (or *caller* (rest (assoc guest (session-callers session))) '(nil "evaluate-lisp" nil)))

(defun client-of-caller (session)
  "By whom the current request is, as people know it; or NIL."
  (let ((guest (own-guest)))
    (if guest (guest-client guest) (first (caller session nil)))))

(defun call-by (personp session client tool function arguments)
  (let ((session (ensure-session session)) (guest (own-guest)))
    (when (and guest (not personp))
      (name-guest guest client)
      (setf client (guest-client guest)))
    (with-lock ()
      (setf (session-callers session)
            (cons (list guest client tool personp)
                  (remove-if-not (lambda (other) (and (not (eq other guest)) (member other *guests*)))
                                 (session-callers session) :key #'first))))
    (let ((*caller* (list client tool personp)))
      (apply (find-symbol (symbol-name function) '#:swank-mcp) arguments))))

(defun by (session client tool function &rest arguments)
  "Call FUNCTION, a keyword, of the helper's for CLIENT and TOOL, as are the calls of this bridge
in SESSION that follow, until it names another."
  (call-by nil session client tool function arguments))

(defun by-person (session client tool function &rest arguments)
  "BY for a person who works in the session of an agent, and needs nobody's permission."
  (call-by t session client tool function arguments))

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
