;;;; copies.lisp -- the life of a copy of the image: it waits, and makes copies of itself that work

(cl:in-package #:swank-mcp)

;;; A copy is connected with the bridge by a socket of its own.  It says who it is, and then waits
;;; for commands, without using time.  At the end of file, the bridge has ended or wants it no
;;; more, and it ends.  It never works itself: it makes another copy for that, which goes on or
;;; saves itself, so that it can be gone back to any number of times.  Messages are property lists,
;;; each followed by a NUL.

;;; Making a process

(defmacro with-own-end (&rest body)
  "Evaluate BODY in a copy, which ends if that fails: a copy that nobody knows would be there for
ever."
  `(handler-case (progn ,@body)
     (serious-condition (c)
       (ignore-errors
        (format sb-sys:*stderr* "~&; a copy of the image ends: ~A~%" (condition-text c))
        (finish-output sb-sys:*stderr*))
       (sb-ext:exit :code 1 :abort t))))

;;; A copy that waits has no finalizer thread, which would call the program's finalizers.
;;; SB-POSIX:FORK starts one each time, and never forks again if the system had no room for it.

(defun let-finalizers-go-on ()
  "Have the finalizer thread go on, which was told to end."
  (let ((flag (sb-sys:find-foreign-symbol-address "finalizer_thread_runflag")))
    (when flag (setf (sb-sys:signed-sap-ref-32 (sb-sys:int-sap flag) 0) 1))))

(defun end-finalizer-thread ()
  "End the thread that runs finalizers, as SB-POSIX:FORK does.  An error if it could have ended for half
a second and did not."
  (loop with over = (make-patience 1/2
                                   (lambda ()
                                     (let ((thread sbcl:*finalizer-thread*))
                                       (and (typep thread 'sb-thread:thread)
                                            (list (thread-system-number thread)))))
                                   1/10)
        while (typep sbcl:*finalizer-thread* 'sb-thread:thread)
        do (handler-case (return (sb-sys:with-deadline (:seconds 1/10)
                                   (sbcl:finalizer-thread-stop)))
             (sb-sys:deadline-timeout ()
               (when (funcall over)
                 (let-finalizers-go-on)
                 (error "a finalizer of the program's runs"))))))

(defun await-ended-threads ()
  "Return when the system has ended the threads that have ended in Lisp.  SBCL joins them when it makes
the next thread, and a copy, which does not have them, would wait for ever for one that was still
ending."
  #+linux
  (flet ((others () (remove (sb-posix:getpid) (process-thread-numbers))))
    (unless (await-able (lambda () (= 1 (length (process-thread-numbers)))) 1/2 #'others 1/2000)
      (error "threads did not end"))))

(defun plain-fork ()
  "Like SB-POSIX:FORK, in a process that has one thread and gets no other; -1 if it fails."
  (sb-alien:alien-funcall (sb-alien:extern-alien "fork" (function sb-alien:int))))

(defvar *forked* nil
  "The process of the last copy that FORK-BY-CHILD has made, or NIL where only its child knows that.")

(defun fork-by-child ()
  "Have a child copy this process, and end at once.  Return 0 in the copy, otherwise the child or -1; its
exit status is 0 if there is a copy."
  (setf *forked* nil)
  ;; By VFORK the child has the memory of this process, which stands still until it ends: so the page
  ;; tables are copied once, and not twice.  No variable lives across the call: the child, which
  ;; returns from it first, has the frame too.
  (let ((child (sb-alien:alien-funcall
                (sb-alien:extern-alien #+linux "vfork" #-linux "fork" (function sb-alien:int)))))
    (if (zerop child)
        (let ((copy (plain-fork)))
          (cond ((zerop copy) 0)
                (t
                 #+linux (setf *forked* copy)
                 (sb-alien:alien-funcall
                  (sb-alien:extern-alien "_exit" (function sb-alien:void sb-alien:int))
                  (if (minusp copy) 1 0)))))
        child)))

(defun call-with-signals-blocked (function)
  "FUNCTION's value: an integer.  It leaves by no other way."
  (sb-alien:with-alien ((all (array sb-alien:unsigned-char 128)) ; a sigset_t and more
                        (old (array sb-alien:unsigned-char 128)))
    (flet ((set-mask (how new old)
             (sb-alien:alien-funcall
              (sb-alien:extern-alien "pthread_sigmask"
                                     (function sb-alien:int sb-alien:int sb-sys:system-area-pointer
                                               sb-sys:system-area-pointer))
              (+ how #-linux 1) new old)))
      (sb-alien:alien-funcall
       (sb-alien:extern-alien "sigfillset" (function sb-alien:int sb-sys:system-area-pointer))
       (sb-alien:alien-sap all))
      (set-mask 0 (sb-alien:alien-sap all) (sb-alien:alien-sap old)) ; SIG_BLOCK
      (prog1 (funcall function)
        (set-mask 2 (sb-alien:alien-sap old) (sb-sys:int-sap 0)))))) ; SIG_SETMASK

(defun fork-apart ()
  "Copy this process, which has one thread.  Return NIL in the copy, and otherwise the process in
between, which ends at once and is to be waited for; its exit status is 0 if there is a copy.  So the
copy is not our child but the bridge's or the system's, which see to its end; and it leads a process
group of its own."
  (let ((between (call-with-signals-blocked #'fork-by-child)))
    (cond ((plusp between) between)
          ((minusp between) (sb-posix:syscall-error 'fork))
          (t
           (with-own-end
             #+darwin
             (sb-alien:alien-funcall (sb-alien:extern-alien "darwin_reinit" (function sb-alien:void)))
             (sb-posix:setpgid 0 0))
           nil))))

(defun fork-image ()
  "FORK-APART in the image, whose finalizer thread ends and is started again."
  (end-finalizer-thread)
  (let ((between :none))
    (unwind-protect
         (progn (await-ended-threads)
                (setf between (fork-apart)))
      (when between (try-to #'restart-finalizers)))))

;;; The socket to the bridge

(defun call-bridge (address)
  "A descriptor that is connected with the Unix socket ADDRESS."
  (let ((socket (make-instance 'sb-bsd-sockets:local-socket :type :stream)))
    (sb-bsd-sockets:socket-connect socket address)
    (let ((fd (sb-bsd-sockets:socket-file-descriptor socket)))
      (sb-ext:cancel-finalization socket)
      (sb-posix:fcntl fd sb-posix:f-setfd 1) ; FD_CLOEXEC: the program's children have no part in it
      fd)))

(defun tell-bridge (fd &rest message)
  (let ((octets (sb-ext:string-to-octets
                 (with-output-to-string (out)
                   (write-datum message out)
                   (write-char #\Nul out))
                 :external-format :utf-8)))
    (sb-sys:with-pinned-objects (octets)
      (loop with start = 0
            while (< start (length octets))
            do (incf start (sb-posix:write fd (sb-sys:sap+ (sb-sys:vector-sap octets) start)
                                           (- (length octets) start)))))))

(defun read-octet (fd buffer)
  "The next octet, or NIL at the end of file."
  (sb-sys:with-pinned-objects (buffer)
    (loop
      (handler-case
          (return (and (plusp (sb-posix:read fd (sb-sys:vector-sap buffer) 1)) (aref buffer 0)))
        (sb-posix:syscall-error (c)
          (unless (= sb-posix:eintr (sb-posix:syscall-errno c)) (return nil)))))))

(defun await-command (fd)
  "The next command, a list, or NIL at the end of file."
  (let ((buffer (make-array 1 :element-type '(unsigned-byte 8)))
        (octets (make-array 200 :element-type '(unsigned-byte 8) :adjustable t :fill-pointer 0)))
    (loop for octet = (read-octet fd buffer)
          do (cond ((null octet) (return nil))
                   ((zerop octet)
                    (return
                      (with-standard-io-syntax
                        (let ((*read-eval* nil) (*package* (find-package '#:swank-mcp)))
                          (values (read-from-string
                                   (sb-ext:octets-to-string
                                    (coerce octets '(simple-array (unsigned-byte 8) (*)))
                                    :external-format :utf-8)))))))
                   (t (vector-push-extend octet octets))))))

;;; Waiting and working

(defun end-by-sigterm ()
  "Have SIGTERM end this process at once: a copy that waits is not the program, whose *EXIT-HOOKS*
SBCL would call.  Return a function that takes this back."
  (let ((none (make-array 256 :element-type '(unsigned-byte 8) :initial-element 0)) ; SIG_DFL
        (old (make-array 256 :element-type '(unsigned-byte 8))))
    (flet ((handle-by (action old)
             (sb-sys:with-pinned-objects (action old)
               (sb-alien:alien-funcall
                (sb-alien:extern-alien "sigaction" (function sb-alien:int sb-alien:int
                                                             sb-sys:system-area-pointer
                                                             sb-sys:system-area-pointer))
                sb-posix:sigterm (sb-sys:vector-sap action) (sb-sys:vector-sap old)))))
      (handle-by none old)
      (lambda () (handle-by old none)))))

(defvar *own-call* nil
  "In an image that goes on from a copy, the descriptor by which it has told the bridge so.")

(defun leave-connections (pause)
  "Close what the image that this is a copy of goes on to use."
  (dolist (connection (pause-connections pause))
    (ignore-errors (close (swank::connection.socket-io connection) :abort t)))
  (dolist (server swank::*servers*)
    (ignore-errors (swank/backend:close-socket (first server))))
  (when *own-call*
    (ignore-errors (sb-posix:close (shiftf *own-call* nil))))
  (setf swank::*connections* '() swank::*servers* '()))

(defun remove-directory (address)
  "Remove the directory of the socket ADDRESS, with the files in it."
  (let ((name (subseq address 0 (position #\/ address :from-end t))))
    (ignore-errors
     (dolist (entry (directory-entries name))
       (ignore-errors (sb-posix:unlink (concatenate 'string name "/" entry)))))
    (ignore-errors (sb-posix:rmdir name))))

(defun end-as-copy (command address)
  "End this copy, as COMMAND says.  Without one the bridge has ended: an image would remove its own
socket, but there may be none now."
  (unless command (remove-directory address))
  (sb-ext:exit :code 0 :abort t))

(defun ended-well-p (between)
  "Wait for the process BETWEEN, of FORK-APART.  False if it has made no copy."
  (let ((status (ignore-errors (nth-value 1 (sb-posix:waitpid between 0)))))
    (or (null status) (zerop status)))) ; where SIGCHLD is ignored, nobody learns it

(defun input-within-p (fd milliseconds)
  "True if there is something to read from FD, or its end, after so many milliseconds at most."
  (let ((asked (make-array 1 :element-type '(unsigned-byte 64)
                             :initial-element (logior fd (ash 1 32))))) ; POLLIN in a struct pollfd
    (sb-sys:with-pinned-objects (asked)
      (plusp (sb-alien:alien-funcall
              (sb-alien:extern-alien "poll" (function sb-alien:int sb-sys:system-area-pointer
                                                      sb-alien:unsigned-long sb-alien:int))
              (sb-sys:vector-sap asked) 1 milliseconds)))))

(defun fork-in-copy (fd)
  "FORK-APART, and again if it fails, until the bridge, which is at FD, says something else or has
ended: the system may have no room for a process just now, and what this copy has is worth waiting
for.  Return true in the new copy."
  (loop for between = (handler-case (fork-apart)
                        (sb-posix:syscall-error () :none))
        do (cond ((null between) (return t))
                 ((and (integerp between) (ended-well-p between)) (return nil)))
        until (input-within-p fd 100)))

(defun forget-children ()
  "The processes that the program has started are children of another image's: this one never
learns how they end.  Without this they would count as running for ever, and PROCESS-WAIT would not
return.  They count as ended by the loss of their parent."
  (dolist (process sbcl:*active-processes*)
    (when (slot-exists-p process 'sbcl:%status)
      (setf (slot-value process 'sbcl:%status) :signaled))
    (when (slot-exists-p process 'sbcl:%exit-code)
      (setf (slot-value process 'sbcl:%exit-code) sb-posix:sighup)))
  (setf sbcl:*active-processes* '()))

(defun wait-as-copy (address number pause positions)
  "The life of the copy NUMBER, whose files had POSITIONS.  Return in copies of it that are to
work or to be saved, with the command."
  (leave-connections pause)
  (forget-children)
  (cut-connections)
  (reopen-files positions)              ; a lock on a file ends when the image closes it
  (let ((fd (call-bridge address))
        (handle-again (end-by-sigterm)))
    (tell-bridge fd :copy number :pid (sb-posix:getpid))
    (loop
      (let ((command (await-command fd)))
        (unless (getf command :number) (end-as-copy command address))
        (setf *forked* nil)
        (when (fork-in-copy fd)
          (restart-finalizers)
          (sb-posix:close fd)
          (unless (getf command :save) (funcall handle-again))
          (setf *own-call* (call-bridge address))
          (tell-bridge *own-call* (if (getf command :save) :saving :working) (getf command :number)
                       :pid (sb-posix:getpid))
          (reopen-files positions)
          (return command))
        ;; With the process known, its end is seen before it has called.
        (when *forked*
          (ignore-errors (tell-bridge fd :forked (getf command :number) :pid *forked*)))))))

(defun remove-socket (socket)
  "Remove the file SOCKET, and its directory if nothing else is in it."
  (ignore-errors (sb-posix:unlink socket))
  (ignore-errors (sb-posix:rmdir (subseq socket 0 (position #\/ socket :from-end t)))))

(defun work-as-copy (command)
  "Begin to serve the bridge, at the socket that COMMAND names."
  (forget-sentinel)
  (forget-dead-mailboxes)
  (let ((socket (getf command :socket)))
    (handler-bind ((serious-condition   ; the bridge has ended, perhaps, and all who would remove it
                     (lambda (condition)
                       (declare (ignore condition))
                       (remove-socket socket))))
      (let ((address (boot-call :serve socket)))
        (watch-again)
        (apply #'tell-bridge *own-call* :ready t :pid (sb-posix:getpid) address)))))
