;;;; rehearsal.lisp -- a connection of the image to itself, before it is saved as a core
;;;;
;;;; What WARM-UP is for evaluations, this is for the way to them: in an image that starts from the
;;;; core, the first connection takes a tenth of the time.

(cl:in-package #:swank-mcp)

(defun rehearse-requests (stream)
  "Ask on STREAM, which is connected to this image's Swank, what the bridge asks first."
  (loop for form in '((swank:connection-info)
                      (swank:eval-and-grab-output "(swank-mcp:start-thread \"swank-mcp rehearsal\")"))
        for id from 1
        do (swank/rpc:write-message `(:emacs-rex ,form nil t ,id) *package* stream)
           (loop for message = (swank/rpc:read-message stream *package*)
                 until (eq :return (first message)))))

(defun end-serving ()
  "End the threads of Swank's, and forget its servers and connections."
  (end-threads (remove nil (mapcar #'control-thread (live-connections)))) ; see BEGIN-PAUSE
  (end-threads (remove-if-not (lambda (thread) (member (thread-role thread) '(:swank :bridge)))
                              (other-threads)))
  (dolist (server swank::*servers*)
    (swank/backend:close-socket (first server)))
  (setf swank::*servers* '() swank::*connections* '())
  (forget-sentinel)
  (forget-dead-mailboxes))

(defun rehearse-connection (serve file)
  "Call SERVE to serve Swank at the socket FILE, connect there, and have it answer.  Then serve no
more."
  (unwind-protect
       (ignore-errors
        (funcall serve file)
        (sb-ext:with-timeout 10
          (let ((socket (make-instance 'sb-bsd-sockets:local-socket :type :stream))
                (*package* (find-package '#:swank-mcp)))
            (unwind-protect
                 (progn
                   (sb-bsd-sockets:socket-connect socket file)
                   (rehearse-requests
                    (sb-bsd-sockets:socket-make-stream socket :input t :output t
                                                              :element-type '(unsigned-byte 8))))
              (sb-bsd-sockets:socket-close socket)))))
    (end-serving))
  t)
