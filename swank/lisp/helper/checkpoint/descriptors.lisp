;;;; descriptors.lisp -- what a copy of the image does with open files, pipes and sockets

(cl:in-package #:swank-mcp)

;;; A copy inherits all descriptors of the image.  What the image closes would be open still while
;;; there is a copy: the other end of a pipe would see no end of file, and a port would stay taken.

(defconstant +first-descriptor+ 4
  "Below are the standard streams, and the pipe that tells that the bridge has ended.")

(defun directory-entries (name)
  "The names of the files in the directory NAME.  It may be one that CL:DIRECTORY would resolve."
  (let ((directory (sb-posix:opendir name)))
    (unwind-protect
         (loop for entry = (sb-posix:readdir directory)
               until (sb-alien:null-alien entry)
               collect (sb-posix:dirent-name entry))
      (sb-posix:closedir directory))))

(defun descriptors ()
  "The numbers of what the image has open, and perhaps others."
  (or (ignore-errors
       (loop for name in (directory-entries "/dev/fd")
             for fd = (parse-integer name :junk-allowed t)
             when (and fd (>= fd +first-descriptor+)) collect fd))
      (loop for fd from +first-descriptor+ below 1024 collect fd)))

(defun replace-descriptor (fd new)
  "Have FD be what NEW is."
  (let ((flags (sb-posix:fcntl fd sb-posix:f-getfd)))
    (sb-posix:dup2 new fd)
    (sb-posix:fcntl fd sb-posix:f-setfd flags)))

;;; Pipes, sockets and terminals

(defun connection-p (fd)
  "True if somebody else may wait for the end of FD."
  (ignore-errors
   (let ((mode (sb-posix:stat-mode (sb-posix:fstat fd))))
     (or (sb-posix:s-isfifo mode) (sb-posix:s-issock mode) (eql 1 (sbcl:unix-isatty fd))))))

(defun dead-socket ()
  "A descriptor at which reading finds the end of file, and writing a broken pipe."
  (sb-alien:with-alien ((ends (array sb-alien:int 2)))
    (unless (zerop (sb-alien:alien-funcall
                    (sb-alien:extern-alien "socketpair"
                                           (function sb-alien:int sb-alien:int sb-alien:int
                                                     sb-alien:int (* (array sb-alien:int 2))))
                    1 1 0 (sb-alien:addr ends))) ; AF_UNIX, SOCK_STREAM
      (sb-posix:syscall-error 'socketpair))
    (sb-posix:close (sb-alien:deref ends 1))
    (sb-alien:deref ends 0)))

(defun cut-connections ()
  "Put something dead in the place of each connection.  The numbers stay taken: the program's
streams have them."
  (let ((connections (remove-if-not #'connection-p (descriptors))))
    (when connections
      (let ((dead (dead-socket)))
        (dolist (fd connections)
          (replace-descriptor fd dead))
        (sb-posix:close dead)))))

;;; Files.  Processes that come of each other by fork share the position in an open file.  So a
;;; copy notes the positions, and a copy that begins to work opens the files anew.

(defun seek (fd offset whence)
  (sb-alien:alien-funcall
   (sb-alien:extern-alien "lseek" (function (sb-alien:signed 64) sb-alien:int (sb-alien:signed 64)
                                            sb-alien:int))
   fd offset whence))

(defun file-positions ()
  "((DESCRIPTOR . POSITION) ...) of the open files that have a position."
  (loop for fd in (descriptors)
        for position = (seek fd 0 1)
        unless (minusp position) collect (cons fd position)))

(defun reopen-files (positions)
  "Make each file of POSITIONS this process's own, at its position.  One that may not be opened
any more stays shared, so its position is another process's, too, and is left alone."
  (loop for (fd . position) in positions
        do #+linux
           (ignore-errors
            (let ((new (sb-posix:open (format nil "/proc/self/fd/~D" fd)
                                      (logandc2 (sb-posix:fcntl fd sb-posix:f-getfl)
                                                (logior sb-posix:o-creat sb-posix:o-excl
                                                        sb-posix:o-trunc)))))
              (replace-descriptor fd new)
              (sb-posix:close new)
              (seek fd position 0)))
           #-linux position))
