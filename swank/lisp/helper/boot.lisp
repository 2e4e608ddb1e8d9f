;;;; boot.lisp - the first file of an image that swank-mcp launches.
;;;;
;;;; It loads Swank and the helper, unless it is part of a core that has them.  It loads the user's
;;;; init file, serves Swank on a private socket, and ends the image when swank-mcp ends.  Attached
;;;; images do not load it.
;;;;
;;;; Two inherited file descriptors connect it with its parent:
;;;;   3  carries one property list of parameters and a NUL, then nothing; end
;;;;      of file means that the parent has ended and the image must end as well.
;;;;   4  takes property lists, each followed by a NUL: (:BOOTED T) as soon as
;;;;      Swank and the helper are in, then (:READY T ...) or (:FAILED "why").
;;;; Standard output carries none of this: it belongs to the user's programs.
;;;;
;;;; boot-main.lisp and boot-policy.lisp follow it in the same file when it is compiled; the latter
;;;; lists what they change in the image.

(defpackage :swank-mcp-boot
  (:use :common-lisp))

(in-package :swank-mcp-boot)

(defconstant +lifetime-fd+ 3)
(defconstant +status-fd+ 4)
(defconstant +close-on-exec+ 1 "FD_CLOEXEC, which SB-POSIX does not name.")

(defvar *launched-mark* "--swank-mcp"
  "The argument by which swank-mcp starts its core.")

(defvar *notes* '()
  "Remarks for the person, strings, newest first; sent with (:READY ...).")

(defvar *helper-warnings* nil
  "What the compiler said about the helper, a string, or NIL.")

(defvar *in-core* nil
  "True in an image that was started from a core saved by SAVE-CORE.")

(defvar *session* nil
  "True in an image that was started from a core saved by SAVE-SESSION.")

(defvar *hooks* '()
  "In such an image, the values that SB-EXT:*SAVE-HOOKS* and *INIT-HOOKS* had before.")

(defvar *lifetime-thread* nil
  "The thread that ends the image with its parent.")

(defvar *remove-files* (constantly nil)
  "What REMOVE-FILES-FUNCTION has returned for the socket of this image.")

(defvar *lisps-core* nil
  "SBCL's default core, in an image that was started from ours.")

(defun native-path (string)
  "STRING, a file name of the operating system, as an absolute pathname.  Brackets and asterisks
in it are no wildcards."
  (merge-pathnames (sb-ext:parse-native-namestring string)))

(defun native-directory (string)
  (sb-ext:parse-native-namestring string nil *default-pathname-defaults*
                                  :as-directory t))

(defun swank-symbol (name &optional (package :swank))
  "The symbol NAME of PACKAGE, or NIL.  Swank is not there when this file is compiled, and its
versions differ."
  (and (find-package package) (find-symbol name package)))

;;;; Status

(defvar *status-stream* nil)

(defun send-status (&rest plist)
  (unless *status-stream*
    (setf *status-stream*
          (sb-sys:make-fd-stream +status-fd+ :output t :buffering :full
                                             :external-format :utf-8)))
  (let ((text (with-standard-io-syntax
                (let ((*print-readably* nil) (*print-case* :downcase))
                  (prin1-to-string plist)))))
    (write-string (substitute #\? #\Nul text) *status-stream*)
    (write-char #\Nul *status-stream*)
    (finish-output *status-stream*)))

(defun close-status ()
  (when *status-stream*
    (close *status-stream*)
    (setf *status-stream* nil)))

(defun condition-text (condition)
  "One string for CONDITION, whatever its report does."
  (let ((text (handler-case
                  (let ((*print-length* 20) (*print-level* 5) (*print-circle* t))
                    (format nil "~A: ~A" (type-of condition) condition))
                (error () (format nil "~A" (type-of condition))))))
    (if (> (length text) 4000)
        (concatenate 'string (subseq text 0 4000) "...")
        text)))

;;;; Modules

(defun require-module (name)
  "Load SBCL's module NAME.  If that fails, tell the parent and end the image."
  (handler-case
      ;; ASDF, if it is loaded, would look for a newer ASDF first
      (let* ((own (swank-symbol "MODULE-PROVIDE-CONTRIB" :sb-impl))
             (sb-ext:*module-provider-functions*
               (if own (list own) sb-ext:*module-provider-functions*)))
        (require (string-upcase name)))
    (error (condition)
      (send-status :failed (condition-text condition) :without name
                   :home (let ((home (sb-int:sbcl-homedir-pathname)))
                           (if home (sb-ext:native-namestring home) "")))
      (sb-ext:exit :code 70 :abort t))))

(eval-when (:compile-toplevel)
  (require :sb-bsd-sockets)
  (require :sb-posix))

(eval-when (:load-toplevel :execute)
  ;; Swank needs the last three, but only Debian's loads ASDF; a session that loads it would own
  ;; it.
  (mapc #'require-module '("sb-bsd-sockets" "sb-posix" "sb-introspect" "sb-cltl2" "asdf")))

;;;; Parameters

(defun read-lifetime (buffer)
  "Read some octets into BUFFER and return their number, 0 at the end.  A signal, as of the
collector, interrupts reading; then it is repeated."
  (sb-sys:with-pinned-objects (buffer)
    (loop
      (multiple-value-bind (count errno)
          (sb-unix:unix-read +lifetime-fd+ (sb-sys:vector-sap buffer)
                             (length buffer))
        (cond (count (return count))
              ((/= errno sb-unix:eintr) (return 0)))))))

(defun read-parameters ()
  "The property list on +LIFETIME-FD+, up to a NUL.  A stream would wait for more than that."
  (let ((octets (make-array 0 :element-type '(unsigned-byte 8)
                              :adjustable t :fill-pointer t))
        (buffer (make-array 4096 :element-type '(unsigned-byte 8))))
    (loop until (find 0 octets)
          do (let ((count (read-lifetime buffer)))
               (when (zerop count)
                 (error "End of file in the parameters."))
               (dotimes (i count)
                 (vector-push-extend (aref buffer i) octets))))
    (with-standard-io-syntax
      (let ((*read-eval* nil)
            (*package* (find-package :swank-mcp-boot)))
        (values (read-from-string
                 (sb-ext:octets-to-string (coerce octets '(simple-array (unsigned-byte 8) (*)))
                                          :external-format :utf-8
                                          :end (position 0 octets))))))))

(defun fail (condition)
  "Tell the parent that the start has failed and end the image."
  (ignore-errors
   (sb-debug:print-backtrace :stream sb-sys:*stderr* :count 20)
   (finish-output sb-sys:*stderr*))
  (ignore-errors (send-status :failed (condition-text condition)))
  (sb-ext:exit :code 70 :abort t))

;;;; Descriptors

(defun keep-descriptors-private ()
  "Do not pass our descriptors on to child processes: one that held +STATUS-FD+ would keep our
parent waiting."
  (dolist (fd (list +lifetime-fd+ +status-fd+))
    (sb-posix:fcntl fd sb-posix:f-setfd +close-on-exec+)))

;;;; Loading Swank and the helper

(defun call-quietly (function)
  "Call FUNCTION and show its output, on standard error, only if it does not return.  Nobody needs
the compiler's messages about Swank."
  (let ((output (make-string-output-stream))
        (done nil))
    (unwind-protect
         (multiple-value-prog1
             (let ((*standard-output* output) (*error-output* output)
                   (*trace-output* output) (*compile-verbose* nil)
                   (*compile-print* nil) (*load-verbose* nil))
               (funcall function))
           (setf done t))
      (unless done
        (write-string (get-output-stream-string output) sb-sys:*stderr*)
        (finish-output sb-sys:*stderr*)))))

(defun fasls-into-swank-directory ()
  "Make Swank's loader put fasls below *FASL-DIRECTORY*, as its authors intended.  Debian's copy
puts them where ASDF has its fasls."
  (let ((name (swank-symbol "BINARY-PATHNAME" :swank-loader)))
    (when name
      (setf (fdefinition name)
            (lambda (source directory)
              (let ((fasl (compile-file-pathname source)))
                (merge-pathnames (make-pathname :name (pathname-name fasl)
                                                :type (pathname-type fasl))
                                 directory)))))))

(defun load-swank (source-directory fasl-directory)
  "Load Swank without its contribs and without init files for Swank: these are for servers that
Emacs uses."
  (let ((*package* (find-package :cl-user)))
    (load (merge-pathnames "swank-loader.lisp"
                           (native-directory source-directory)))
    (setf (symbol-value (swank-symbol "*FASL-DIRECTORY*" :swank-loader))
          (native-directory fasl-directory))
    (fasls-into-swank-directory)
    (funcall (swank-symbol "INIT" :swank-loader)
             :load-contribs nil :setup nil :quiet t)))

(defun append-file (from to)
  "Append the file FROM to the stream TO.  Concatenated fasls are a fasl."
  (with-open-file (in from :element-type '(unsigned-byte 8))
    (let ((bytes (make-array (file-length in) :element-type '(unsigned-byte 8))))
      (write-sequence bytes to :end (read-sequence bytes in)))))

(defun compile-into-place (sources fasl)
  "Compile SOURCES to FASL, which appears at once, when it is complete.  Return FASL, or NIL if
that failed, and the compiler's complaints, a string, or NIL."
  (let* ((whole (format nil "~A.~D-tmp" (sb-ext:native-namestring fasl) (sb-posix:getpid)))
         (part (concatenate 'string whole "-part"))
         (complaints '()))
    (handler-case
        (handler-bind ((warning (lambda (w)
                                  (push (condition-text w) complaints))))
          (with-open-file (out (native-path whole) :direction :output :if-exists :supersede
                                                   :element-type '(unsigned-byte 8))
            (with-compilation-unit (:override t)
              (dolist (source sources)
                (compile-file source :output-file (native-path part))
                (append-file (native-path part) out)
                (sb-posix:unlink part))))
          (sb-posix:rename whole (sb-ext:native-namestring fasl))
          (values fasl (format nil "~{~A~^~%~}" (nreverse complaints))))
      (error (c)
        (ignore-errors (sb-posix:unlink part))
        (ignore-errors (sb-posix:unlink whole))
        (push (format nil "~A cannot be compiled to a file: ~A"
                      (file-namestring fasl) (condition-text c))
              *notes*)
        nil))))

(defun load-compiled (sources fasl)
  "Load FASL; if it is missing or unusable, compile it; if that fails, load
SOURCES.  Returns the compiler's complaints about these, or NIL."
  (when (probe-file fasl)
    (handler-case (progn (load fasl) (return-from load-compiled nil))
      (error () (ignore-errors (delete-file fasl)))))
  (multiple-value-bind (compiled complaints) (compile-into-place sources fasl)
    (if compiled (load compiled) (mapc #'load sources))
    (and complaints (string/= complaints "") complaints)))

(defun load-everything (&key swank-dir fasl-dir boot boot-fasl helper helper-fasl
                        &allow-other-keys)
  (call-without-leftovers
   (lambda ()
     (call-quietly
      (lambda ()
        (unless (swank-symbol "CREATE-SERVER")
          (load-swank swank-dir fasl-dir))
        (when helper
          (setf *helper-warnings*
                (load-compiled (mapcar #'native-path helper) (native-path helper-fasl))))
        (when (and boot (not (probe-file (native-path boot-fasl))))
          (compile-into-place (list (native-path boot)) (native-path boot-fasl)))))))
  (funcall (swank-symbol "INIT"))
  (let-swank-take-our-socket))

;;;; The user's init file

(defun load-user-init ()
  "Load ~/.sbclrc.  Return NIL, or what went wrong.  Only an error that would open the debugger
counts: handlers in the file come first."
  (let ((file (and sb-ext:*userinit-pathname-function*
                   (probe-file (funcall sb-ext:*userinit-pathname-function*)))))
    (when file
      (catch 'init-file-failed
        (let ((sb-ext:*invoke-debugger-hook*
                (lambda (condition hook)
                  (declare (ignore hook))
                  (throw 'init-file-failed (condition-text condition))))
              (*package* (find-package :cl-user)))
          (load file))
        nil))))

;;;; Serving

(defvar *our-secret* nil
  "What the bridge shows when it connects; NIL if nobody else can connect.")

(defvar *serving* nil "True while a server for the bridge is made.")

(defvar *authenticating* nil "True while a client of that server is asked for its secret.")

(defun create-server (&rest arguments)
  (let ((*serving* t) (log (swank-symbol "*SWANK-DEBUG-P*")))
    (progv (and log (list log)) '(nil)  ; suppresses ";; Swank started"
      (apply (swank-symbol "CREATE-SERVER")
             :port 0 :style :spawn :dont-close t arguments))))

(defun serve-loopback ()
  (list :network "tcp"
        :address (format nil "127.0.0.1:~D"
                         (create-server :interface "127.0.0.1"))))

(defun missing-notes ()
  "The helper's remarks on this SBCL, a list."
  (let ((note (call-if-defined "MISSING-NOTE" :swank-mcp)))
    (and note (list note))))

(defun ready-status (&rest more)
  (list* :ready t
         :pid (sb-posix:getpid)
         :implementation (format nil "~A ~A" (lisp-implementation-type)
                                 (lisp-implementation-version))
         :swank (format nil "~A"
                        (symbol-value (swank-symbol "*SWANK-WIRE-PROTOCOL-VERSION*")))
         :core *in-core*
         :notes (append (reverse *notes*) (missing-notes))
         :helper-warnings *helper-warnings*
         more))

(defun serve (&key socket secret init &allow-other-keys)
  (setf *our-secret* secret)
  (keep-descriptors-private)
  (install-policy)
  (give-helper-functions)
  (send-status :booted t)
  (let ((init-error (and init (load-user-init))))
    (install-policy)
    (apply #'send-status
           (apply #'ready-status
                  :init-error init-error
                  (if socket (serve-socket socket) (serve-loopback)))))
  (close-status))

;;;; Cores

(defun call-if-defined (name package &rest arguments)
  (let ((symbol (swank-symbol name package)))
    (when (and symbol (fboundp symbol))
      (apply symbol arguments))))

(defun preload (file)
  "Load the systems that FILE names into a core that is to be saved: ((NAME DEFINITION) ...)."
  (let ((*package* (find-package :cl-user))
        (systems (with-open-file (in (native-path file) :external-format :utf-8)
                   (with-standard-io-syntax (read in)))))
    (call-quietly (lambda () (funcall (swank-symbol "PRELOAD" :swank-mcp) systems)))))

(defun save-core (file &key systems socket &allow-other-keys)
  "Save this image to FILE and end it, with what the file SYSTEMS names.  Does not return."
  (send-status :booted t)
  (unless *in-core*
    (call-if-defined "WARM-UP" :swank-mcp)
    (when socket
      (call-if-defined "REHEARSE-CONNECTION" :swank-mcp #'serve-socket socket)))
  (when systems (preload systems))
  (call-if-defined "CLEAR-CONFIGURATION" :asdf)
  (stop-watching-lifetime)
  (close-status)
  (setf *notes* '()
        *helper-warnings* nil)
  (save-image file))

(defun save-image (file)
  (setf *in-core* t
        *lisps-core* sb-ext:*core-pathname*)
  (sb-ext:save-lisp-and-die (native-path file) :toplevel (lambda () (start-from-core))
                                               :executable nil))

(defun call-each (what functions)
  "Call FUNCTIONS, which are in the list WHAT.  One that fails is a note and keeps nobody from going
on: what is in the core is worth more."
  (dolist (function functions)
    (handler-case (funcall function)
      (serious-condition (condition)
        (push (format nil "A function of ~A failed: ~A" what (condition-text condition))
              *notes*)))))

(defun save-session (file)
  "Save this image, which has one thread, to FILE as what a session has made of it, and end it.
SBCL would call the functions of these lists with nobody who handles what they signal."
  (setf *session* t *notes* '())
  (call-each "SB-EXT:*SAVE-HOOKS*" sb-ext:*save-hooks*)
  (setf *hooks* (list (shiftf sb-ext:*save-hooks* '()) (shiftf sb-ext:*init-hooks* '())))
  (sb-posix:umask #o077)                ; it has all that the session has seen
  (save-image file))

(defun restore-session ()
  "Have the systems of the session that is in this core do what they do at a start."
  (setf (values sb-ext:*save-hooks* sb-ext:*init-hooks*) (values-list *hooks*))
  (call-each "SB-EXT:*INIT-HOOKS*" sb-ext:*init-hooks*)
  (call-each "UIOP:*IMAGE-RESTORE-HOOK*"
             (list (lambda () (call-if-defined "CALL-IMAGE-RESTORE-HOOK" :uiop)))))

;;;; Entry point

(defun start-from-core ()
  "The toplevel function of our core.  A program that starts the core itself, without our
argument, gets a plain SBCL."
  (cond ((equal (second sb-ext:*posix-argv*) *launched-mark*)
         (setf sb-ext:*core-pathname* *lisps-core*)
         (launch))
        (t (funcall (swank-symbol "TOPLEVEL-INIT" :sb-impl)))))

(defun launch ()
  "Do what the parameters on +LIFETIME-FD+ say.  Does not return."
  (setf (rest sb-ext:*posix-argv*) '()) ; our arguments are not for the user's programs
  (let* ((sb-ext:*invoke-debugger-hook*
           (lambda (condition hook)
             (declare (ignore hook))
             (if (typep condition 'sb-sys:interactive-interrupt)
                 (continue condition)
                 (fail condition))))
         (parameters (read-parameters)))
    (when (getf parameters :core-fd)
      (sb-unix:unix-close (getf parameters :core-fd)))
    (setf *remove-files* (remove-files-function (getf parameters :socket)))
    (watch-lifetime)
    (cond (*session* (restore-session))
          (*in-core* (call-if-defined "CALL-IMAGE-RESTORE-HOOK" :uiop))
          (t (apply #'load-everything parameters)))
    (if (getf parameters :save)
        (apply #'save-core (getf parameters :save) parameters)
        (apply #'serve parameters)))
  (idle))
