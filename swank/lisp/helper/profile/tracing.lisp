;;;; tracing.lisp -- TRACE-FORM, SWITCH-TRACE: calls and their values
;;;;
;;;; The folder profile/ measures what runs: calls, time, allocation, the heap, threads.  Each file
;;;; has a function that the bridge calls; profiling.lisp uses sampling.lisp and stacks.lisp.

(cl:in-package #:swank-mcp)

;;; SBCL lets anybody wrap a named function under a tag.  TRACE has its tag; ours is new each time,
;;; so we do not touch the traces of others.  Every thread calls the wrapper, which records the calls
;;; on the thread of our evaluation, and counts those on others.

(defun split-names (text)
  "The names in TEXT, separated by blanks or commas: foo, (setf bar) p::|b z|."
  (let ((names '()) (start nil) (depth 0) (in-bars nil) (escaped nil))
    (flet ((end (at)
             (when start (push (subseq text start at) names))
             (setf start nil)))
      (loop for char across text
            for at from 0
            do (cond ((and (zerop depth) (not in-bars) (not escaped)
                           (find char '(#\space #\, #\newline #\tab)))
                      (end at))
                     (t (unless start (setf start at))
                        (cond (escaped)
                              ((char= char #\|) (setf in-bars (not in-bars)))
                              (in-bars)
                              ((char= char #\() (incf depth))
                              ((char= char #\)) (decf depth)))))
               (setf escaped (and (char= char #\\) (not escaped))))
      (end (length text)))
    (nreverse names)))

(defun names-in (text)
  "The names in TEXT, also those inside a list like (foo bar); (setf foo) is one name."
  (loop for name in (split-names text)
        for end = (1- (length name))
        append (if (and (plusp end) (char= #\( (char name 0)) (char= #\) (char name end))
                        (null (setf-place-name name)))
                   (split-names (subseq name 1 end))
                   (list name))))

(defun wrappable-function (text session package)
  "The name of the function that TEXT names; a LOOKUP-FAILURE if its calls cannot be watched."
  (let* ((name (find-function-name text session package))
         (shown (function-spelling name)))
    (cond ((not (fboundp name))
           (fail-lookup "UNDEFINED-FUNCTION" (mapcar #'qualified-spelling
                                                     (remove-if-not #'fboundp
                                                                    (symbols-elsewhere (symbol-name (function-symbol name)))))
                        "~A is not the name of a function." shown))
          ((and (symbolp name) (or (macro-function name) (special-operator-p name)))
           (fail-lookup "NOT-A-FUNCTION" '()
                        "~A is a ~:[special operator~;macro~]: no call of it is left when code runs. Name the functions that it calls."
                        shown (macro-function name)))
          ((internal-package-p (symbol-package (function-symbol name)))
           (fail-lookup "SYSTEM-FUNCTION" '()
                        "~A belongs to the Lisp system, which calls it itself. Name functions of yours that call it."
                        shown))
          ((eq (symbol-package (function-symbol name)) (find-package '#:common-lisp))
           (fail-lookup "SYSTEM-FUNCTION" '()
                        "~A belongs to the Lisp system, which calls it itself, and compiled code often does without. Name functions of yours that call it."
                        shown))
          (t name))))

(defun wrappable-functions (text session package)
  "The function names in TEXT.  The names of a LOOKUP-FAILURE are texts to try instead."
  (let ((given (names-in text)))
    (unless given (fail-lookup "NO-FUNCTION" '() "No function is named."))
    (remove-duplicates
     (loop for name in given
           collect (handler-case (wrappable-function name session package)
                     (lookup-failure (failure)
                       (fail-lookup (failure-type failure)
                                    (texts-instead given name (failure-names failure) session package)
                                    "~A" (failure-message failure)))))
     :test #'equal :from-end t)))

(defun texts-instead (given wrong names session package)
  "Texts of the names GIVEN with WRONG replaced by one of NAMES that can be watched; or without
WRONG."
  (flet ((wrappable-p (name)
           (handler-case (wrappable-function name session package)
             (lookup-failure () nil))))
    (let ((rest (remove-if-not #'wrappable-p (remove wrong given :test #'string=))))
      (or (loop for name in names
                when (wrappable-p name)
                  collect (format nil "~{~A~^ ~}" (append rest (list name))))
          (and rest (list (format nil "~{~A~^ ~}" rest)))))))

(defun wrap-function (name tag wrapper)
  "Have calls of the function NAME go to WRAPPER, which gets NAME, the function and the arguments."
  #+sbcl (sbcl:encapsulate name tag (lambda (function &rest arguments)
                                      (funcall wrapper name function arguments)))
  #-sbcl (progn name tag wrapper))

(defun unwrap-function (name tag)
  (ignore-errors                        ; it may not be defined any more
   #+sbcl (sbcl:unencapsulate name tag)
   #-sbcl (progn name tag)))

(defun call-with-wrapped (names wrapper function)
  (let ((tag (make-symbol "SWANK-MCP")) (done '()))
    (unwind-protect
         (progn (dolist (name names)
                  (push name done)
                  (wrap-function name tag wrapper))
                (funcall function))
      (dolist (name done) (unwrap-function name tag)))))

;;; Lines

(defparameter *max-calls-shown* 100)

(defvar *recorder* nil "The RECORDER of the evaluation that is traced on this thread.")
(defvar *describing* nil "True while a call is printed, which may make calls itself.")

(defstruct (recorder (:copier nil))
  (depth 0) (calls '()) (shown 0)
  emit)                                 ; function of a line

(defun call-line (depth text)
  (format nil "~A~D: ~A" (make-string (* 2 (min depth 30)) :initial-element #\space) depth text))

(defun emit-line (recorder depth function)
  "Emit the text that FUNCTION returns; it may call printing methods of the user's."
  (funcall (recorder-emit recorder)
           (let ((*describing* t)) (call-line depth (funcall function)))))

(defun record-call (recorder name function arguments)
  "Call FUNCTION and emit lines about its arguments and values."
  (let* ((depth (recorder-depth recorder))
         (counter (or (assoc name (recorder-calls recorder) :test #'equal)
                      (first (push (cons name 0) (recorder-calls recorder)))))
         (shownp (< (recorder-shown recorder) *max-calls-shown*))
         (values :left))
    (incf (cdr counter))
    (when shownp
      (incf (recorder-shown recorder))
      (emit-line recorder depth
                 (lambda ()
                   (format nil "(~A~{ ~A~})" (function-spelling name) (mapcar #'brief arguments)))))
    (unwind-protect
         (progn (setf (recorder-depth recorder) (1+ depth)
                      values (multiple-value-list (apply function arguments)))
                (values-list values))
      (setf (recorder-depth recorder) depth)
      (when shownp
        (emit-line recorder depth
                   (lambda ()
                     (let ((label (function-spelling name)))
                       (cond ((eq values :left) (format nil "~A was left without returning" label))
                             ((null values) (format nil "~A returned no values" label))
                             (t (format nil "~A returned ~{~A~^, ~}" label (mapcar #'brief values)))))))))))

;;; The transcript of one evaluation

(defstruct (other-calls (:copier nil))
  (count 0 :type #+sbcl sb-ext:word #-sbcl (integer 0)))

(defun count-other (others name)
  "Count a call of NAME on another thread than the evaluation's.  Any number of them may do so at once."
  (let ((counter (cdr (assoc name others :test #'equal))))
    #+sbcl (sb-ext:atomic-incf (other-calls-count counter))
    #-sbcl (incf (other-calls-count counter))))

(defun call-counts (recorder names others)
  "((NAME COUNT COUNT-ON-OTHER-THREADS) ...) of the functions NAMES."
  (loop for name in names
        for counter = (assoc name (recorder-calls recorder) :test #'equal)
        collect (list (function-spelling name)
                      (if counter (cdr counter) 0)
                      (other-calls-count (cdr (assoc name others :test #'equal))))))

(defun trace-form (code functions &key (session "default") (token 0) package)
  "Evaluate the form in CODE while calls of FUNCTIONS are recorded.  The answer is
EVALUATE's with :REPORT (:LINES (TEXT ...) :SHOWN n :CALLS ((NAME COUNT COUNT-ON-OTHER-THREADS) ...))."
  (call-as-work
   (lambda (evaluation read)
     (let* ((names (refusing-failures
                    evaluation
                    (lambda () (wrappable-functions functions (evaluation-session evaluation) package))))
            (form (funcall read code))
            (lines '())
            (recorder (make-recorder :emit (lambda (line) (push line lines))))
            (others (loop for name in names collect (cons name (make-other-calls)))))
       (report-with evaluation
                    (lambda ()
                      (list :lines (reverse lines) :shown (recorder-shown recorder)
                            :calls (call-counts recorder names others))))
       (let ((*recorder* recorder))
         (call-with-wrapped
          names
          (lambda (name function arguments)
            (cond ((not (eq *recorder* recorder))
                   (count-other others name)
                   (apply function arguments))
                  (*describing* (apply function arguments))
                  (t (record-call recorder name function arguments))))
          (lambda () (multiple-value-list (evaluate-form form)))))))
   :code code :session session :token token :package package))

;;; Traces that stay on

(defvar *traced* '()
  "(SESSION NAME TAG CONNECTION) of each function that is traced in every evaluation; CONNECTION is
that of the bridge that asked for it.")

(defvar *evaluation-recorders* '()
  "(EVALUATION . RECORDER) of each session's evaluation that last made a traced call.")

(defun evaluation-recorder (evaluation)
  "The recorder of EVALUATION, which runs on this thread."
  (with-lock ()
    (let ((entry (find (evaluation-session evaluation) *evaluation-recorders*
                       :key (lambda (entry) (evaluation-session (first entry))))))
      (if (eq evaluation (first entry))
          (rest entry)
          (let ((recorder (make-recorder :emit (lambda (line) (format *trace-output* "~&~A~%" line)))))
            (setf *evaluation-recorders*
                  (acons evaluation recorder (remove entry *evaluation-recorders*)))
            recorder)))))

(defun record-traced-call (session name function arguments)
  "Call FUNCTION; on a thread that evaluates for SESSION, write lines about it to *TRACE-OUTPUT*."
  (if (and *evaluation* (not *describing*)
           (eq session (evaluation-session *evaluation*)))
      (record-call (evaluation-recorder *evaluation*) name function arguments)
      (apply function arguments)))

(defun traced-names (session)
  (loop for (owner name) in (reverse *traced*)
        when (eq owner session) collect name))

(defun untrace-if (predicate)
  (let ((ending (with-lock ()
                  (let ((found (remove-if-not predicate *traced*)))
                    (setf *traced* (set-difference *traced* found))
                    found))))
    (loop for (nil name tag) in ending do (unwrap-function name tag))))

(defun untrace-names (session names)
  (untrace-if (lambda (entry)
                (and (eq session (first entry))
                     (or (eq names t) (member (second entry) names :test #'equal))))))

(defun forget-traces (session)
  (untrace-names session t)
  (forget-recorders))

(defun forget-traces-of (connection)
  "End the traces of the bridge behind CONNECTION."
  (untrace-if (lambda (entry) (eq connection (fourth entry))))
  (forget-recorders))

(defun forget-recorders ()
  "Forget the recorders of sessions that trace nothing any more."
  (with-lock ()
    (setf *evaluation-recorders*
          (remove-if-not (lambda (entry)
                           (find (evaluation-session (first entry)) *traced* :key #'first))
                         *evaluation-recorders*))))

(defun switch-trace (functions onp &key (session "default") package)
  "Trace FUNCTIONS in every evaluation of SESSION, or end that; \"\" ends all.  Answer (:TITLE
:NOTES) about what is traced now."
  (with-look-up (session)
    (let ((names (if (and (not onp) (null (split-names functions)))
                     t
                     (wrappable-functions functions session package))))
      (cond (onp
             (untrace-names session names) ; again, in case it was wrapped and redefined
             (dolist (name names)
               (let ((tag (make-symbol "SWANK-MCP")) (session session))
                 (wrap-function name tag
                                (lambda (name function arguments)
                                  (record-traced-call session name function arguments)))
                 (with-lock ()
                   (push (list session name tag (own-connection)) *traced*)))))
            (t (untrace-names session names)))
      (let ((traced (mapcar #'function-spelling (traced-names session))))
        (list :title (format nil "~:[No function is traced.~;Traced: ~:*~{~A~^, ~}~]" traced)
              :notes (and traced
                          (list (format nil "Each evaluation of this session tells their calls under [stderr], the first ~D; calls in other threads are not told."
                                *max-calls-shown*))))))))
