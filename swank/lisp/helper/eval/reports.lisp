;;;; reports.lisp -- reports of errors: what was signalled, where, and what may have been meant

(cl:in-package #:swank-mcp)

(defun reader-failure (condition code start stream)
  "The report of CONDITION, signalled while reading from STREAM the form of CODE after START."
  (let ((begin (next-form-position code start))
        (position (file-position stream))
        (type (type-label condition)))
    (if (and (typep condition 'end-of-file) (eq stream (ignore-errors (stream-error-stream condition))))
        (append (failure type
                         (format nil "The code ends inside the form that begins at ~A: a closing ~
                                      parenthesis, quote or bar is missing."
                                 (place-text code begin)))
                '(:unbalanced t))
        (let* ((text (condition-text condition))
               (advice (reader-advice text (subseq code begin))))
          (append
           (failure type (format nil "~A~%At ~A of the code." (with-advice text advice)
                                 (place-text code (max begin (1- position)))))
           (advice-for-wire advice)
           (when (search "unmatched close parenthesis" text) '(:unbalanced t)))))))

(defvar *outer-frame-p* nil
  "True of the frames of what has called the user's code: a backtrace ends before them; or NIL.")

(defun users-form-p (form)
  "True if FORM is the user's: a tool's call, which is the code of an evaluation that reads none, is no
frame of theirs."
  (and form
       (not (and *evaluation*
                 (or (evaluation-work *evaluation*) (evaluation-system *evaluation*))
                 (eq form (evaluation-code *evaluation*))))))

(defun working-on-file-p ()
  "True while a tool compiles or loads a file, whose place then says more than the form."
  (and *evaluation* (evaluation-work *evaluation*) (file-at-work-p)))

(defun reading-text-p (text)
  "True if TEXT says that the reader has met an error in a file."
  (or (search "READ error during" text) (string= text *end-in-form-text*)))

(defun ill-formed-file (condition)
  "The native name of the file that is not well-formed and that CONDITION is about, or NIL."
  (flet ((reading-p (record)
           (and (record-place record) (reading-text-p (record-text record)))))
    (let ((files (cond ((reading-text-p (condition-text condition))
                        (mapcar #'native-name
                                (remove nil (list *compile-file-truename* *load-truename*))))
                       ;; the compiler has told of it before
                       ((and *evaluation* (search "COMPILE-FILE" (type-label condition)))
                        (mapcar (lambda (record) (first (record-place record)))
                                (remove-if-not #'reading-p (evaluation-records *evaluation*)))))))
      (find-if (lambda (file)
                 (let ((text (and (string/= file "") (file-text* file))))
                   (and text (misfit text))))
               files))))

(defun condition-report (condition form &optional system)
  "The report of CONDITION, and the frames.  This is called where CONDITION was signalled, with
the stack intact.  FORM is NIL in a thread that evaluates none.  SYSTEM is the name of the system
that was being loaded."
  (note-missing-cell condition)
  (let ((missing (and (typep condition 'undefined-function)
                      (ignore-errors (cell-error-name condition)))))
    (multiple-value-bind (texts total frames)
        (ignore-errors (collect-frames *kept-frames* *package* :missing missing))
      (when (or *building* (working-on-file-p))
        (setf texts (subseq texts 0 (or (ignore-errors (program-frames texts frames)) 0))
              total (length texts)))
      (let ((end (and *outer-frame-p*
                      (position-if *outer-frame-p* frames :end (min (length texts) (length frames))))))
        (when end
          (setf texts (subseq texts 0 end) frames (subseq frames 0 end) total end)))
      #+sbcl
      (unless (typep condition 'storage-condition) ; little of the stack is left
        (setf texts (with-places texts (mapcar #'frame-spot frames))))
      (unless (or texts *building* (working-on-file-p) (not (users-form-p form)))
        (setf texts (list (show-form form *package*)) total 1))
      (values (append (if system
                          (failure (type-label condition)
                                   (join-lines (system-failure-text condition system)
                                               (building-place-text condition))
                                   texts total)
                          (let ((advice (condition-advice condition form)))
                            (append (failure (type-label condition)
                                             (join-lines (with-advice (condition-text condition) advice)
                                                         (building-place-text condition))
                                             texts total)
                                    (advice-for-wire advice))))
                      (and system
                           (missing-system-p condition)
                           (let ((files (unregistered-definitions system)))
                             (if files
                                 (list :system (native-name (first files)))
                                 (instead-of system (near-systems system)))))
                      (let ((file (ignore-errors (ill-formed-file condition))))
                        (when file (list :ill-formed file)))
                      (when missing (list :missing missing)))
              frames))))

(defun plain-report (condition trouble)
  "The report of CONDITION if making a better one has signalled TROUBLE."
  (failure (plain-type-name condition)
           (format nil "The error cannot be told: another one, ~A, was signalled in making its report. ~
                        A method of the program's that the report calls, PRINT-OBJECT for one, may do that."
                   (plain-type-name trouble))))

#+sbcl
(defun restart-finalizers ()
  "Start the thread that runs finalizers again.  SAVE-LISP-AND-DIE ends it, even if it then finds
that it cannot save."
  (unless sbcl:*finalizer-thread*
    (sbcl:finalizer-thread-start)))

(defun refused-exit-report (what)
  (failure "EXIT-REFUSED"
           (format nil "The code asked ~A to end. It is not ended: the session lives in it.~:[~;~%~
                        It had called SB-EXT:DISABLE-DEBUGGER, after which any error does so; [stderr] tells the error.~]"
                   what (debugger-disabled-p))))

(defun debugger-disabled-p ()
  "True after (SB-EXT:DISABLE-DEBUGGER), with which many scripts begin."
  #+sbcl (let ((hook sb-ext:*invoke-debugger-hook*))
           (and (symbolp hook) (string= hook "DEBUGGER-DISABLED-HOOK"))))

(defun ended-report (what)
  "The report if somebody has asked WHAT, the image or this thread, to end.  In a person's image it
is most likely the person who ends a thread."
  (if (or *launched* (string= what "the Lisp image"))
      (refused-exit-report what)
      (failure "ABORTED"
               (format nil "Somebody told ~A to end: the person, with k in SLIME's list of threads for one, or the code, with ~
                            ABORT-THREAD or TERMINATE-THREAD. The evaluation has ended; the session goes on." what))))
