;;;; boot-main.lisp - the second part of boot.lisp: the end with the parent, the socket, and what
;;;; the main thread does.

(in-package :swank-mcp-boot)

;;;; Ending with the parent

(defun remove-files-function (socket)
  "A function that unlinks the file SOCKET, the one beside it at which copies of the image call,
and their directory.  It conses nothing: it has to work while another thread blocks the collector."
  (if (null socket)
      (constantly nil)
      (let* ((end (position #\/ socket :from-end t))
             (file (sb-alien:make-alien-string socket))
             (calls (sb-alien:make-alien-string
                     (concatenate 'string (subseq socket 0 end) "/calls.sock")))
             (directory (sb-alien:make-alien-string (subseq socket 0 end))))
        (lambda ()
          (flet ((unlink (name)
                   (sb-alien:alien-funcall
                    (sb-alien:extern-alien "unlink" (function sb-alien:int (* char)))
                    name)))
            (loop repeat 10             ; the main thread may just make the socket
                  do (unlink file)
                     (unlink calls)
                  until (zerop (sb-alien:alien-funcall
                                (sb-alien:extern-alien "rmdir" (function sb-alien:int (* char)))
                                directory))))))))

(defun watch-lifetime ()
  (let ((remove-files *remove-files*)
        (buffer (make-array 16 :element-type '(unsigned-byte 8))))
    (setf *lifetime-thread*
          (sb-thread:make-thread
           (lambda ()
             (loop until (zerop (read-lifetime buffer)))
             (funcall remove-files)
             (sb-ext:exit :code 0 :abort t))
           :name "swank-mcp lifetime"))))

(defun stop-watching-lifetime ()
  (when *lifetime-thread*
    (loop                               ; a thread may miss that it is to end
      (ignore-errors (sb-thread:terminate-thread *lifetime-thread*)) ; the user's code may have done it
      (sb-thread:join-thread *lifetime-thread* :default nil :timeout 1/4)
      (unless (sb-thread:thread-alive-p *lifetime-thread*)
        (return)))
    (setf *lifetime-thread* nil)))

;;;; The socket

(defvar *our-socket* nil
  "The socket at which Swank is to serve; NIL lets it make one.")

;;; Where the bridge is served, Swank asks for *OUR-SECRET*.  The file ~/.slime-secret is for those
;;; who connect to a socket of the person's.

(defvar *bridge-socket* nil "The socket at which Swank serves the bridge.")

(defvar *bridge-client* nil "The stream to the client that was accepted there last.")

(defun local-port-around (original &rest arguments)
  (if *our-socket* 0 (apply original arguments)))

(defun create-socket-around (original &rest arguments)
  (let ((socket (or *our-socket* (apply original arguments))))
    (when *serving* (setf *bridge-socket* socket))
    socket))

(defun accept-connection-around (original socket &rest arguments)
  (let ((stream (apply original socket arguments)))
    (when (eq socket *bridge-socket*) (setf *bridge-client* stream))
    stream))

(defun accept-connections-around (original &rest arguments)
  (catch 'refused (apply original arguments)))

(defun authenticate-client-around (original stream)
  "Refuse a client that does not know the secret.  An error would end the thread that accepts."
  (if (eq stream *bridge-client*)
      (handler-case (let ((*authenticating* t)) (funcall original stream))
        (error ()
          (close stream :abort t)
          (throw 'refused nil)))
      (funcall original stream)))

(defun slime-secret-around (original)
  (if *authenticating* *our-secret* (funcall original)))

(defun let-swank-take-our-socket ()
  "Have Swank's functions call ours around them.  In a core SBCL has linked the calls of these
functions, and changing them would take milliseconds."
  (loop for (name package around)
          in '(("LOCAL-PORT" :swank/backend local-port-around)
               ("CREATE-SOCKET" :swank/backend create-socket-around)
               ("ACCEPT-CONNECTION" :swank/backend accept-connection-around)
               ("ACCEPT-CONNECTIONS" :swank accept-connections-around)
               ("AUTHENTICATE-CLIENT" :swank authenticate-client-around)
               ("SLIME-SECRET" :swank slime-secret-around))
        do (let* ((name (swank-symbol name package)) (around around) (original (fdefinition name)))
             (setf (fdefinition name)
                   (lambda (&rest arguments) (apply around original arguments))))))

(defun serve-socket (file)
  "Serve Swank on the Unix socket FILE.  Swank makes only Internet sockets.  But all it does with
the listening socket is to accept from it, so its backend returns ours."
  (let ((socket (make-instance 'sb-bsd-sockets:local-socket :type :stream)))
    (sb-bsd-sockets:socket-bind socket file)
    (sb-bsd-sockets:socket-listen socket 16)
    (let ((*our-socket* socket))
      (create-server))
    (list :network "unix" :address file)))

;;;; The main thread

(defvar *main-work* nil
  "A function for the main thread to call, or NIL.")

(defvar *main-wake* (sb-thread:make-semaphore :name "swank-mcp main"))

(defun take-main-work (work)
  "Take WORK away from *MAIN-WORK*.  True if it was there."
  (and work
       (eq work (sb-ext:compare-and-swap (symbol-value '*main-work*) work nil))))

(defun call-in-main (function busyp)
  "Have the main thread call FUNCTION, with interrupts off, and return true; or NIL if BUSYP returns
true before: code that interrupts the main thread may go on for as long as it likes."
  (setf *main-work* function)
  (sb-thread:signal-semaphore *main-wake*)
  (loop while (eq *main-work* function)
        until (funcall busyp)
        do (sleep 0.001))
  (not (take-main-work function)))

(defun idle ()
  "What the main thread does.  Code that interrupts it may fail and throw here; interrupts are off
while there is no catch tag, and while it works for the helper."
  (sb-sys:without-interrupts
    (loop
      (catch 'idle
        (loop
          (sb-sys:with-local-interrupts
            (sb-thread:wait-on-semaphore *main-wake*))
          (let ((work *main-work*))
            (when (take-main-work work)
              (sb-sys:allow-with-interrupts (funcall work)))))))))

;;;; What the helper needs of this file to make copies of the image

(defun serve-again (socket)
  "Serve a copy of the image, at another SOCKET."
  (setf *remove-files* (remove-files-function socket))
  (serve-socket socket))

(defun give-helper-functions ()
  (let ((variable (swank-symbol "*BOOT*" :swank-mcp)))
    (when variable
      (setf (symbol-value variable)
            (list :in-main #'call-in-main
                  :stop-watching #'stop-watching-lifetime
                  :watch #'watch-lifetime
                  :start-clean #'call-starting-clean
                  :serve #'serve-again
                  :save #'save-session)))))
