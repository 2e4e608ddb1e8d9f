;;; What the attempts of sandbox_attempts_linux_test.go are made of.

(require :sb-bsd-sockets)
(require :sb-posix)

(defpackage :attempts
  (:use :cl))

(in-package :attempts)

(defun call-attempt (function)
  "The value of FUNCTION, or :REFUSED if that is NIL or an error."
  (handler-case (or (funcall function) :refused)
    (error () :refused)
    (storage-condition () :refused)))

(defmacro attempt (&body body)
  `(call-attempt (lambda () ,@body)))

(defun foreign (name &rest arguments)
  "Call the C function NAME with integers and strings.  NIL if it fails."
  (let ((value (eval `(sb-alien:alien-funcall
                       (sb-alien:extern-alien
                        ,name (function (sb-alien:signed 64)
                                        ,@(mapcar (lambda (argument)
                                                    (if (stringp argument)
                                                        'sb-alien:c-string
                                                        '(sb-alien:signed 64)))
                                                  arguments)))
                       ,@arguments))))
    (if (member value '(-1 #xFFFFFFFF)) nil value)))

(defun octets (size)
  "The address of SIZE octets of foreign memory, all zero."
  (sb-sys:sap-int (sb-alien:alien-sap
                   (sb-alien:alien-funcall
                    (sb-alien:extern-alien "calloc" (function (* t) sb-alien:unsigned-long
                                                              sb-alien:unsigned-long))
                    1 size))))

(defun read-text (file)
  (with-open-file (in file :external-format :latin-1)
    (read-line in)))

(defun write-text (file &optional (text "planted"))
  (with-open-file (out file :direction :output :if-exists :append :if-does-not-exist :create)
    (write-line text out)
    t))

(defun run (program &rest arguments)
  "The output of PROGRAM, or NIL if it fails."
  (let* ((out (make-string-output-stream))
         (process (sb-ext:run-program program arguments :search t :output out)))
    (and (zerop (sb-ext:process-exit-code process))
         (get-output-stream-string out))))

(defun connect-tcp (port)
  (let ((socket (make-instance 'sb-bsd-sockets:inet-socket :type :stream :protocol :tcp)))
    (unwind-protect (progn (sb-bsd-sockets:socket-connect socket #(127 0 0 1) port) t)
      (sb-bsd-sockets:socket-close socket))))

(defun connect-local (address &optional abstract)
  (let ((socket (make-instance (if abstract
                                   'sb-bsd-sockets:local-abstract-socket
                                   'sb-bsd-sockets:local-socket)
                               :type :stream)))
    (unwind-protect (progn (sb-bsd-sockets:socket-connect socket address) t)
      (sb-bsd-sockets:socket-close socket))))

(defun say-to (address text)
  "Connect to the socket ADDRESS and say TEXT and a NUL."
  (let ((socket (make-instance 'sb-bsd-sockets:local-socket :type :stream)))
    (sb-bsd-sockets:socket-connect socket address)
    (let ((stream (sb-bsd-sockets:socket-make-stream socket :output t :input t)))
      (write-string text stream)
      (write-char #\Nul stream)
      (finish-output stream)
      (sleep 1/10)
      (close stream)
      t)))

(defun run-code (octets)
  "Have the processor run OCTETS as a C function and return its value."
  (let ((size 4096) (address nil))
    (setf address (foreign "mmap" 0 size 7 #x22 -1 0)) ; read, write, execute; private, anonymous
    (loop for octet in octets
          for i from 0
          do (setf (sb-sys:sap-ref-8 (sb-sys:int-sap address) i) octet))
    (sb-alien:alien-funcall
     (sb-alien:sap-alien (sb-sys:int-sap address) (function (sb-alien:signed 32))))))

(defun start-many (count)
  "How many of COUNT processes can be started that wait.  They are ended."
  (let ((processes '()))
    (unwind-protect
         (handler-case
             (loop repeat count
                   do (push (sb-ext:run-program "/bin/sleep" '("1000000") :wait nil) processes))
           (error () nil))
      (dolist (process processes)
        (ignore-errors (sb-ext:process-kill process 9)))
      (dolist (process processes)
        (ignore-errors (sb-ext:process-wait process))))
    (length processes)))

(defun open-many (count)
  "How many of COUNT descriptors can be opened.  They are closed."
  (let ((fds '()))
    (unwind-protect
         (ignore-errors (loop repeat count do (push (sb-posix:open "/dev/null" 0) fds)))
      (mapc #'sb-posix:close fds))
    (length fds)))

(defun allocate-much (count size)
  "How many of COUNT pieces of foreign memory of SIZE can be had.  They are freed."
  (let ((pieces (loop repeat count
                      for piece = (foreign "malloc" size)
                      while (and piece (/= piece 0)) collect piece)))
    (dolist (piece pieces) (foreign "free" piece))
    (length pieces)))

(defun fill-file (file size)
  "True if FILE can take SIZE octets.  It is removed."
  (let ((fd (sb-posix:open file (logior sb-posix:o-creat sb-posix:o-rdwr) #o600)))
    (unwind-protect (foreign "ftruncate" fd size)
      (sb-posix:close fd)
      (sb-posix:unlink file))))

(defun allocate-file (file size)
  "True if the disk of FILE has SIZE octets for it.  It is removed."
  (let ((fd (sb-posix:open file (logior sb-posix:o-creat sb-posix:o-rdwr) #o600)))
    (unwind-protect (foreign "fallocate" fd 0 0 size)
      (sb-posix:close fd)
      (sb-posix:unlink file))))
