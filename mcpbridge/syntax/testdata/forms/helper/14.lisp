
(defstruct (action (:copier nil))
  number token
  began                                 ; universal time
  microseconds                          ; it took, or NIL
  (state :running)                      ; then :DONE, :ERROR and the other kinds of reports, or :SUSPENDED
  client session tool package frame
  (code "")
  (out "") (err "")                     ; beginnings of what it printed
  (values '())                          ; texts
  type message                          ; of an error
  (changes '()) (changes-left-out 0)    ; see definitions/changes.lisp
  (size 0)                              ; characters of all that
  remarks)                              ; texts, such as that it was undone

(defparameter *max-actions* 4096)

(defparameter *max-action-characters* 2000000
  "How many characters of code, output and values all actions keep together.")

(defparameter *action-limits* '(:code 10000 :out 4000 :err 4000 :value 2000 :message 4000)
  "How many characters of each an action keeps.")

(defvar *actions* nil
  "A vector with the action of number N at N modulo its length; NIL before the first.")

(defvar *last-number* 0
  "The number of the newest action.")

(defvar *oldest-number* 1
  "The number of the oldest action that is kept.")

(defvar *action-characters* 0)

(defun find-action (number)
  (and *actions*
       (<= *oldest-number* number *last-number*)
       (svref *actions* (mod number *max-actions*))))

(defun action-limit (what) (getf *action-limits* what))

(defun add-action (action)
  "Number ACTION and keep it.  *LOCK* is held."
  (unless *actions* (setf *actions* (make-array *max-actions* :initial-element nil)))
  (let ((number (incf *last-number*)))
    (setf (action-number action) number)
    (when (> (- number *oldest-number*) (1- *max-actions*)) (forget-oldest-action))
    (setf (svref *actions* (mod number *max-actions*)) action)
    (measure-action action)
    action))

(defun forget-oldest-action ()
  (let ((place (mod *oldest-number* *max-actions*)))
    (decf *action-characters* (action-size (svref *actions* place)))
    (setf (svref *actions* place) nil)
    (incf *oldest-number*)))

(defun measure-action (action)
  "Count the characters of ACTION, which is kept, and forget the oldest actions if there are too
many.  *LOCK* is held."
  (let ((size (+ 100 (length (action-code action)) (length (action-out action))
                 (length (action-err action)) (length (action-message action))
                 (loop for text in (action-values action) sum (length text))
                 (loop for change in (action-changes action) sum (change-size change)))))
    (incf *action-characters* (- size (shiftf (action-size action) size)))
    (loop while (and (> *action-characters* *max-action-characters*)
                     (< *oldest-number* (action-number action)))
          do (forget-oldest-action))))

(defstruct (change (:copier nil))
  key                                   ; of the definition that was made
  newp                                  ; true if there was none before
  saved                                 ; else that, as SAVED-DEFINITION has it,
  source                                ; and its source text, or NIL
  identity)                             ; of the definition that was made

(defun change-size (change)
  (+ 50 (length (change-source change))))

(defun keptp (action)
  (eq action (find-action (action-number action))))

(defun code-for-people (code limit)
  "CODE, a string or a form, as a text."
  (if (stringp code)
      (clipped (list (string-trim '(#\space #\newline #\tab) code)) limit)
      (clip (with-standard-io-syntax
              (let ((*print-readably* nil) (*package* (find-package '#:swank-mcp)))
                (safely (prin1-to-string code))))
            limit)))

(defun clipped (text limit)
  "TEXT, (HEAD) or (HEAD TAIL OMITTED) or NIL, as a string of about LIMIT characters."
  (destructuring-bind (&optional (head "") (tail "") (omitted 0)) text
    (let ((more (+ omitted (length tail) (max 0 (- (length head) limit)))))
      (if (plusp more)
          (format nil "~A~%... ~:D more characters" (subseq head 0 (min limit (length head))) more)
          head))))
;;;; locks.lisp -- locks that threads wait for, and who holds them

(cl:in-package #:swank-mcp)

(defparameter *system-locks*
  '(("**WORLD-LOCK**" "SBCL's world lock" ", which classes, methods and parts of the compiler need")
    ("*PACKAGE-GRAPH-LOCK*" "the lock of all packages" ""))
  "(VARIABLE NAME REMARK) of locks of the Lisp system that every thread needs at some time.")

(defun system-locks ()
  "((MUTEX NAME REMARK) ...) of those that this SBCL has."
  (loop for (name . words) in *system-locks*
        for lock = (or (named-value '#:sb-kernel name) (named-value '#:sb-impl name))
        when (typep lock 'sb-thread:mutex) collect (cons lock words)))

(defun locks-held ()
  "The names of the system locks that this thread holds.  If a suspended thread held one, the
image would soon come to a standstill."
  (loop for (mutex words) in (system-locks)
        when (sb-thread:holding-mutex-p mutex) collect words))

(defun lock-label (mutex)
  "How to name MUTEX.  This calls no printing method: it might wait for the same lock."
  (let ((name (sb-thread:mutex-name mutex)))
    (cond ((second (assoc mutex (system-locks))))
          ((and name (typep name '(or string symbol))) (format nil "the lock ~S" name))
          (t "a lock without a name"))))

(defun awaited-lock (thread)
  "(VALUES MUTEX OWNER) of the lock that THREAD waits for, or NIL; OWNER is NIL if unknown.
A thread that is being interrupted does not count as waiting, so another one has to ask."
  (let ((what (ignore-errors (sbcl:thread-waiting-for thread))))
    (when (typep what 'sb-thread:mutex)
      (let ((owner (sb-thread:mutex-owner what)))
        (values what (and (typep owner 'sb-thread:thread) owner))))))

(defun waiting-text (thread)
  "What THREAD waits for and who holds it, in words; NIL if it does not wait."
  (multiple-value-bind (mutex owner) (awaited-lock thread)
    (cond (mutex
           (format nil "waits for ~A~@[, held by thread ~A~]" (lock-label mutex)
                   (and owner (format nil "~D ~A" (thread-number owner) (thread-label owner)))))
          ((ignore-errors (sbcl:thread-waiting-for thread)) "waits to be woken"))))

(defun lock-text (thread)
  "WAITING-TEXT if THREAD waits for a lock, else NIL."
  (and (awaited-lock thread) (waiting-text thread)))

(defun lock-advice (thread)
  "Sentences about the lock that THREAD waits for: who holds it and what to do.  NIL if it waits
for none."
  (multiple-value-bind (mutex owner) (awaited-lock thread)
    (when mutex
      (format nil "It waited for ~A~@[~A~].~@[ ~A~]"
              (lock-label mutex) (third (assoc mutex (system-locks)))
              (and owner (holder-advice owner))))))

(defun holder-advice (owner)
  (let* ((number (thread-number owner)) (evaluation (thread-evaluation owner)))
    (format nil "The thread ~D ~S holds it~@[, which itself ~A~]. ~A" number (thread-label owner)
            (lock-text owner)
            (cond ((and evaluation (suspendedp evaluation))
                   "An evaluation is suspended in it: session-status lists that, and abort-evaluation ends it.")
                  (evaluation
                   (format nil "It evaluates for session ~S: ~A"
                           (session-name (evaluation-session evaluation))
                           (clip (princ-to-string (evaluation-code evaluation)) 80)))
                  ((not (eq :user (thread-role owner)))
                   (format nil "It is ~A." (nth-value 1 (thread-role owner))))
                  ((or *launched* (find owner (live-session-threads) :key #'session-thread-thread))
                   (format nil "interrupt-thread {\"thread\": \"~D\"} shows where that is; with \"action\": \"abort\" it ends the thread, and the lock is free."
                           number))
                  (t
                   (format nil "interrupt-thread {\"thread\": \"~D\"} shows where that is. It is none that this session has started: ask the person whose Lisp this is before you end it."
                           number))))))

(defun waits-for (id)
  "Answer LOCK-ADVICE about the thread with Swank's ID, or \"\"."
  (let ((thread (find id (swank/backend:all-threads) :key #'swank/backend:thread-id)))
    (answer (or (and thread (lock-advice thread)) ""))))
;;;; lookups.lisp -- look-ups: their answers, errors and time limit

(cl:in-package #:swank-mcp)

(defun call-with-listing-syntax (function)
  (with-standard-io-syntax
    (let ((*package* (find-package '#:common-lisp-user))
          (*print-readably* nil) (*print-pretty* nil) (*print-circle* t)
          (*print-length* 20) (*print-level* 4))
      (funcall function))))

(defun name-text (name) (safely (prin1-to-string name)))

(defvar *lookup-seconds* 6
  "How long a look-up may take.  It may print objects by methods of the user's, which may do
anything.")

(defun call-with-time-limit (seconds function late)
  "The values of FUNCTION; if SECONDS pass before it returns, those of LATE, called with advice on
the lock for which FUNCTION waits, or NIL."
  #+sbcl
  (block nil
    (let* ((activep t) (thread sb-thread:*current-thread*)
           (timer (sb-ext:make-timer
                   (lambda ()
                     (let ((lock (ignore-errors (lock-advice thread))))
                       (ignore-errors   ; it may have ended
                        (interrupt-safely
                         thread (lambda () (when activep (return (funcall late lock))))))))
                   :thread t)))         ; an interrupted thread does not count as waiting
      (sb-ext:schedule-timer timer seconds)
      (unwind-protect (funcall function)
        (setf activep nil)
        (sb-ext:unschedule-timer timer))))
  #-sbcl (progn seconds late (funcall function)))

(defun failure-for-wire (failure)
  (list :error (list :type (failure-type failure) :message (failure-message failure)
                     :names (failure-names failure))))

(defun call-looking-up (session function)
  "Answer what FUNCTION, called with the session named SESSION, returns; or
(:ERROR (:TYPE :MESSAGE :NAMES)) if it signals an error, takes too long, or calls code of the
program's that asks the image to end."
  (let ((session (ensure-session session)) (*break-on-signals* nil))
    (flet ((look ()
             (handler-bind ((warning #'muffle))
               (handler-case (call-with-listing-syntax (lambda () (funcall function session)))
                 (lookup-failure (failure) (failure-for-wire failure))
                 (serious-condition (condition)
                   (list :error (list :type (type-label condition)
                                      :message (clip (condition-text condition) 2000)))))))
           (late (lock)
             (list :error (list :type "TIMEOUT"
                                :message (format nil "The look-up was stopped after ~D seconds~:[: one of the program's own PRINT-OBJECT methods does not end, or the image is very busy.~;. ~:*~A~]"
                                                 *lookup-seconds* lock)))))
      (answer (call-with-time-limit *lookup-seconds*
                                    (lambda () (call-as-look-up #'look))
                                    #'late)))))

(defun call-as-look-up (function)
  "Call FUNCTION, a look-up; refuse if a method of the program's asks the image to end."
  (block nil
    (call-refusing-exit
     function
     (lambda (what)
       (return
         (list :error (list :type "EXIT-REFUSED"
                            :message (format nil "A method of the program's that the look-up called asked ~A to end. It is not ended." what)))))
     "the thread that looks")))

(defmacro with-look-up ((session) &rest body)
  "Answer what BODY returns; see CALL-LOOKING-UP.  The variable SESSION has the session's name, and
in BODY the session."
  `(call-looking-up ,session (lambda (,session) (declare (ignorable ,session)) ,@body)))
;;;; names.lisp -- finds the symbol that a typed name means, without the reader

(cl:in-package #:swank-mcp)

;;; Look-ups take names as a person writes them: foo, pkg:foo, pkg::foo, |Foo|, :key, #:foo, 'foo,
;;; #'foo, (setf foo).  The reader would intern unknown names and run the user's macro characters.
;;; So names are parsed here, and no symbol is ever interned.

(define-condition lookup-failure (error)
  ((type :initarg :type :reader failure-type)
   (message :initarg :message :reader failure-message)
   (names :initarg :names :initform '() :reader failure-names))
  (:report (lambda (condition stream) (write-string (failure-message condition) stream)))
  (:documentation "The failure of a look-up: TYPE and MESSAGE as shown, and NAMES to try instead,
best first."))

(defun fail-lookup (type names control &rest arguments)
  (error 'lookup-failure :type type :names names
                         :message (with-standard-io-syntax
                                    (apply #'format nil control arguments))))

;;; Parsing a name

(defun fold-case (characters case)
  "The string of CHARACTERS, a list of (CHAR . ESCAPED-P), as the reader folds it
with the readtable-case CASE."
  (let ((plain (loop for (char . escapedp) in characters
                     when (and (not escapedp) (both-case-p char)) collect char)))
    (when (eq case :invert)
      (setf case (cond ((every #'upper-case-p plain) :downcase)
                       ((every #'lower-case-p plain) :upcase)
                       (t :preserve))))
    (map 'string (lambda (entry)
                   (destructuring-bind (char . escapedp) entry
                     (cond (escapedp char)
                           ((eq case :upcase) (char-upcase char))
                           ((eq case :downcase) (char-downcase char))
                           (t char))))
         characters)))

(defun bad-name (text why)
  (fail-lookup "INVALID-NAME" '() "~S is not the name of one symbol: ~A." (clip text 200) why))

(defun name-characters (text)
  "((CHAR . ESCAPED-P) ...) of the token TEXT, with :COLON for each unescaped colon."
  (let ((characters '()) (in-bars nil) (i 0))
    (flet ((next ()
             (prog1 (if (< i (length text)) (char text i) (bad-name text "it ends after a backslash"))
               (incf i))))
      (loop while (< i (length text))
            do (let ((char (next)))
                 (cond ((char= char #\\) (push (cons (next) t) characters))
                       ((char= char #\|) (setf in-bars (not in-bars))
                        ;; so that || is seen to be there
                        (push :bar characters))
                       (in-bars (push (cons char t) characters))
                       ((char= char #\:) (push :colon characters))
                       ((find char '(#\( #\) #\" #\; #\space #\tab #\newline #\return))
                        (bad-name text (format nil "it has ~:C in it" char)))
                       (t (push (cons char nil) characters)))))
      (when in-bars (bad-name text "a bar is missing"))
      (nreverse characters))))

(defun parse-name (text case)
  "(VALUES NAME PACKAGE-NAME COLONS) of the symbol's name TEXT: PACKAGE-NAME is NIL
without a prefix; COLONS is their number, 0 to 2.  CASE is a readtable-case."
  (let* ((token (string-trim '(#\space #\tab #\newline #\return) text))
         (token (string-left-trim "'" token))
         (token (cond ((eql 0 (search "#'" token)) (subseq token 2))
                      ((eql 0 (search "#:" token)) (subseq token 2))
                      (t token))))
    (when (string= token "") (bad-name text "it is empty"))
    (let* ((characters (name-characters token))
           (colons (count :colon characters))
           (colon (position :colon characters)))
      (flet ((name (part) (fold-case (remove :bar part) case)))
        (cond ((null colon) (values (name characters) nil 0))
              ((or (> colons 2)
                   (and (= colons 2) (not (eq :colon (nth (1+ colon) characters)))))
               (bad-name text "at most two colons, side by side, part package and symbol"))
              ((= (length characters) (+ colon colons))
               (bad-name text (format nil "nothing follows the colon~P" colons)))
              (t (values (name (nthcdr (+ colon colons) characters))
                         (if (zerop colon) "KEYWORD" (name (subseq characters 0 colon)))
                         (if (zerop colon) 2 colons))))))))

;;; Spelling a symbol so that it can be found again

(defun bare-spelling (name)
  "NAME, between bars if the reader needs them."
  (with-standard-io-syntax
    (let ((*print-gensym* nil) (*print-readably* nil))
      (prin1-to-string (make-symbol name)))))

(defun spelling (symbol)
  "SYMBOL with the package that it is known by: CAR, MY:FOO, MY::BAR, :KEY."
  (let ((home (symbol-package symbol)) (name (bare-spelling (symbol-name symbol))))
    (cond ((null home) (format nil "#:~A" name))
          ((keywordp symbol) (format nil ":~A" name))
          ((member home (list (find-package '#:common-lisp) (find-package '#:common-lisp-user)))
           name)
          (t (qualified-spelling symbol)))))

(defun qualified-spelling (symbol)
  "SYMBOL with a package prefix, by which it is found from every package."
  (let ((home (symbol-package symbol)))
    (cond ((or (null home) (keywordp symbol)) (spelling symbol))
          (t (let ((package (presenting-package-name symbol)))
               (format nil "~A~:[::~;:~]~A"
                       (bare-spelling package)
                       (eq :external (nth-value 1 (find-symbol (symbol-name symbol) package)))
                       (bare-spelling (symbol-name symbol))))))))

(defun function-spelling (name)
  "SPELLING, also of (SETF FOO)."
  (if (symbolp name)
      (spelling name)
      (format nil "(SETF ~A)" (spelling (second name)))))

;;; Suggestions

(defun internal-package-p (package)
  "True of packages of the implementation, of Swank and of the helper."
  (let ((name (package-name package)))
    (or (implementation-package-p package)
        (find-if (lambda (prefix) (eql 0 (search prefix name)))
                 '("SWANK" "UIOP/" "ASDF/" "HELPER-TEST")))))

(defun preferred-p (symbol)
  "True of symbols that a person is likely to mean: not the system's own."
  (not (internal-package-p (symbol-package symbol))))

(defun named-thing-p (symbol)
  "True if SYMBOL names something: a function, variable, class or type."
  (or (fboundp symbol) (boundp symbol) (find-class symbol nil)
      #+sbcl (sbcl:info :type :expander symbol)
      #+sbcl (not (eq :unknown (sbcl:info :variable :kind symbol)))))

