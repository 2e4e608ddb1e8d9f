;;;; threadlist.lisp -- LIST-THREADS, INTERRUPT-THREAD

(cl:in-package #:swank-mcp)

(defun thread-line (thread)
  (multiple-value-bind (role text) (thread-role thread)
    (declare (ignore role))
    (format nil "~D ~A: ~A~@[; ~A~]" (thread-number thread) (thread-label thread) text
            (waiting-text thread))))

(defun live-threads ()
  "The live threads.  A worker of Swank's that has answered is given a moment to end."
  (flet ((alive ()
           (remove-if-not #'swank/backend:thread-alive-p (swank/backend:all-threads)))
         (ending-worker-p (thread)
           (and (string= (thread-label thread) "worker") (not (swank-worker-p thread)))))
    (when (some #'ending-worker-p (alive)) (sleep 1/20))
    (alive)))

(defun frames-here (limit)
  "Texts of the program's frames on this thread; if there are none, of public functions."
  (or (ignore-errors (collect-frames limit (user-package)))
      #+sbcl
      (ignore-errors
       (first-few (call-with-frame-printing (user-package) #'public-frames-here) 5))))

#+sbcl
(defun public-frames-here ()
  (let ((texts '()))
    (sbcl:map-backtrace
     (lambda (frame)
       (let* ((name (sbcl:debug-fun-name (sbcl:frame-debug-fun frame)))
              (symbol (frame-name-symbol name)) ; SLEEP of (FLET BODY :IN SLEEP)
              (text (and symbol (public-frame-p symbol)
                         (frame-text symbol (if (symbolp name) (frame-arguments frame) :unknown) nil))))
         (when (and text (not (equal text (first texts))))
           (push text texts))))
     :from :interrupted-frame
     :count *deepest-frame*)
    (nreverse texts)))

(defun public-frame-p (name)
  "True if NAME says what a thread does, as SLEEP or SB-THREAD:CONDITION-WAIT."
  (and (not (helper-package-p (symbol-package name)))
       (or (eq (symbol-package name) (find-package '#:common-lisp))
           (and (public-p name)
                (not (equal (package-name (symbol-package name)) "SB-DEBUG"))))))

(defun frames-of-thread (thread limit)
  "The texts of THREAD's frames, innermost first; or a text that says why there are none."
  #+sbcl
  (multiple-value-bind (frames state) (ask-thread thread (lambda () (frames-here limit)))
    (ecase state
      (:answered frames)
      (:ended "it has just ended")
      (:silent "it does not answer: it runs foreign code, or with interrupts off")))
  #-sbcl (progn thread limit "not in this Lisp"))

(defun frame-lines (thread limit)
  (let ((frames (frames-of-thread thread limit)))
    (cond ((stringp frames) (list (format nil "   (~A)" frames)))
          ((null frames) (list "   (nothing that is known by name)"))
          (t (loop for frame in frames
                   for i from 0
                   collect (format nil "   ~D: ~A" i (substitute #\space #\newline frame)))))))

(defparameter *max-threads-shown* 200)

(defun list-threads (&key (session "default") backtraces)
  "Answer (:TITLE :SECTIONS :NOTES) about the threads of the image; with BACKTRACES, also where
those of the program and of sessions are."
  (with-look-up (session)
    (let* ((threads (sort (live-threads) #'< :key #'thread-number))
           (end (+ (microseconds) 4000000)) (skipped 0))
      (list :title (format nil "~D thread~:P" (length threads))
            :sections (list (cons "threads"
                                  (loop for thread in (first-few threads *max-threads-shown*)
                                        collect (thread-line thread)
                                        when (and backtraces
                                                  (member (thread-role thread) '(:user :session)))
                                          append (cond ((< (microseconds) end) (frame-lines thread 10))
                                                       (t (incf skipped) '())))))
            :notes (append
                    (when (> (length threads) *max-threads-shown*)
                      (list (format nil "The first ~D are shown." *max-threads-shown*)))
                    (when (plusp skipped)
                      (list (format nil "~D backtrace~:P left out, for want of time." skipped))))))))

;;; Interrupting and ending a thread

(defun find-thread-named (designator)
  "The live thread with the number DESIGNATOR, or the only one of that name."
  (let* ((text (string-trim " #" designator))
         (number (and (plusp (length text)) (every #'digit-char-p text) (parse-integer text)))
         (threads (live-threads))
         (found (if number
                    (remove number threads :key #'thread-number :test-not #'eql)
                    (remove text threads :key #'thread-label :test-not #'string-equal))))
    (cond ((null found)
           (fail-lookup "UNKNOWN-THREAD" '() "No thread has the ~:[name~;number~] ~A. There are: ~{~A~^, ~}."
                        number text
                        (loop for thread in (first-few (sort threads #'< :key #'thread-number) 20)
                              collect (format nil "~D ~A" (thread-number thread) (thread-label thread)))))
          ((rest found)
           (fail-lookup "AMBIGUOUS-THREAD" (mapcar (lambda (thread) (format nil "~D" (thread-number thread))) found)
                        "~D threads are called ~A: give the number, ~{~D~^, ~}."
                        (length found) text (mapcar #'thread-number found)))
          (t (first found)))))

(defun refuse-to-look (thread)
  (multiple-value-bind (role text) (thread-role thread)
    (when (member role '(:swank :bridge :system))
      (fail-lookup "THREAD-PROTECTED" '()
                   "Thread ~D ~A is ~A. It is not asked where it is, because that interrupts it~:[~; and who types there~]. list-threads says what is known of it."
                   (thread-number thread) (thread-label thread) text
                   (string= (thread-label thread) "repl-thread")))))

(defun refuse-to-end (thread)
  (multiple-value-bind (role text) (thread-role thread)
    (let ((advice (case role
                    (:main "Ending it ends the image.")
                    (:session "To stop its evaluation cancel that call, or give it a shorter timeout; reset-session starts afresh.")
                    (:swank "Ending it cuts the bridge off.")
                    (:bridge "Ending it cuts the bridge off.")
                    (:system "The Lisp system needs it."))))
      (when advice
        (fail-lookup "THREAD-PROTECTED" '() "Thread ~D ~A is ~A. ~A" (thread-number thread)
                     (thread-label thread) text advice)))))

(defun end-thread (thread)
  "Unwind and end THREAD; return a sentence about whether it has ended when it could act for a quarter
of a second.  A look-up has a limit of its own, and a busy machine lets THREAD act late."
  #+sbcl
  (progn
    (handler-case
        (when (interrupt-safely thread #'sb-thread:abort-thread)
          (await-state (lambda () (not (sb-thread:thread-alive-p thread))) thread 250000))
      (error () (return-from end-thread "It had just ended by itself.")))
    (if (sb-thread:thread-alive-p thread)
        "It was told to end and has not yet: it runs cleanup forms or foreign code, or with interrupts off."
        "It was ended; its cleanup forms have run."))
  #-sbcl (progn (swank/backend:kill-thread thread) "It was told to end."))

(defun interrupt-thread (designator action &key (session "default"))
  "Answer (:TITLE :SECTIONS :NOTES) about the thread that DESIGNATOR names, with its backtrace.
ACTION is :BACKTRACE, or :ABORT, which ends a thread of the program's."
  (with-look-up (session)
    (let ((thread (find-thread-named designator)) (endp (eq action :abort)))
      (if endp (refuse-to-end thread) (refuse-to-look thread))
      (list :title (thread-line thread)
            :sections (list (cons "backtrace" (frame-lines thread 20)))
            :notes (and endp (list (end-thread thread)))))))
