;;;; saving.lisp -- a core of a copy of the image, and the image that is started from one

(cl:in-package #:swank-mcp)

;;; A copy makes another one of itself that saves itself as a core, and so ends.  What belongs to
;;; a process and not to the heap is not in a core: threads, open files and sockets, foreign
;;; memory.  SBCL closes the streams when it saves.  An image that boot.lisp starts from such a
;;; core is set up by RESUME-CORE and not by CONFIGURE, for which all that the sessions have
;;; defined would be part of what was there at first.

(defun process-there-p (pid)
  (handler-case (progn (sb-posix:kill pid 0) t)
    (sb-posix:syscall-error (c) (/= sb-posix:esrch (sb-posix:syscall-errno c)))))

(defun end-with-bridge (pid)
  "Have the system kill this process when the bridge, whose process is PID, ends.  It is our parent
when the process between us and the copy that has forked has ended, which it does at once."
  #+linux
  (progn
    (loop until (= pid (sb-posix:getppid))
          while (process-there-p pid)
          do (sleep 0.001))
    (sb-alien:alien-funcall
     (sb-alien:extern-alien "prctl" (function sb-alien:int sb-alien:int sb-alien:unsigned-long))
     1 sb-posix:sigkill)                ; PR_SET_PDEATHSIG
    (unless (= pid (sb-posix:getppid))
      (sb-ext:exit :code 70 :abort t)))
  #-linux
  pid)

(defun be-silent ()
  "Write nothing to the output of the image, where SBCL tells that it saves a core."
  (let ((null (sb-posix:open "/dev/null" sb-posix:o-rdwr)))
    (sb-posix:dup2 null 1)
    (sb-posix:dup2 null 2)))

(defun forget-sockets ()
  "In the next process the numbers of this one's sockets are those of something else."
  (sbcl:map-allocated-objects
   (lambda (object type size)
     (declare (ignore type size))
     (when (and (typep object 'sb-bsd-sockets:socket)
                (slot-exists-p object 'sbcl:file-descriptor))
       (setf (slot-value object 'sbcl:file-descriptor) -1)))
   :dynamic))

(defvar *nursery-saved* nil
  "In an image from a core of SAVE-AS-COPY, what SB-EXT:BYTES-CONSED-BETWEEN-GCS was: SBCL does not
keep it.")

(defun later-variables-of-sessions ()
  "((SESSION VARIABLE ...) ...): what the bridge tells of values that only this core will have."
  (loop for session being the hash-values of *sessions*
        for names = (ignore-errors (later-variables session))
        when names collect (cons (session-name session) names)))

(defun save-as-copy (fd &key save bridge &allow-other-keys)
  "Save this copy of the image, which has no other work, to the file SAVE when the bridge agrees."
  (end-with-bridge bridge)
  (be-silent)
  (forget-sentinel)
  (forget-dead-mailboxes)
  (forget-sockets)
  (sb-ext:gc :full t)
  (setf *own-call* nil                  ; the next process has none
        *nursery-saved* (sb-ext:bytes-consed-between-gcs))
  (tell-bridge fd :bytes (sbcl:dynamic-usage) :later (later-variables-of-sessions))
  (when (await-command fd)
    (boot-call :save save))
  (sb-ext:exit :code 70 :abort t))
