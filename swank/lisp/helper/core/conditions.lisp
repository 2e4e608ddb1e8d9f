;;;; conditions.lisp -- what a condition is called and what it says

(cl:in-package #:swank-mcp)

;;; Printing for people: bounded, and errors in the user's code do no harm

(defun call-guarded (function instead)
  "The values of FUNCTION.  If a condition in it is not handled: the values of INSTEAD, called
with that condition.  Errors while reporting would otherwise open an invisible debugger."
  (block nil
    (flet ((give-up (trouble &optional hook)
             (declare (ignore hook))
             (return (funcall instead trouble))))
      (let ((*debugger-hook* #+sbcl nil #-sbcl #'give-up) ; programs look at it
            #+sbcl (sb-ext:*invoke-debugger-hook* #'give-up))
        (handler-case (funcall function)
          (serious-condition (trouble) (give-up trouble)))))))

(defun call-safely (function)
  "Return the string that FUNCTION returns, or a string that says why it failed, and T.
Neither (BREAK) nor (EXIT) in a printing method of the user's gets past this."
  (block nil
    (flet ((refuse (what)
             (return (values (format nil "#<printing it failed: it asked ~A to end>" what) t)))
           (failed (condition)
             (let ((*print-circle* nil)) ; it would mark strings of ours that occur twice
               (values (format nil "#<printing it failed: ~A~@[: ~A~]>" (type-label condition)
                               (or (and (typep condition 'simple-condition) (simple-text condition))
                                   (bare-report condition)))
                       t))))
      (call-guarded (lambda () (values (call-refusing-exit function #'refuse "its thread")))
                    #'failed))))

(defun simple-text (condition)
  "The format control of a SIMPLE-CONDITION that has no arguments.  Nothing more can be told
without running more of the code that has just failed."
  (let ((control (simple-condition-format-control condition)))
    (and (stringp control)
         (null (simple-condition-format-arguments condition))
         (clip control 200))))

(defun obsolete-p (object)
  "True if OBJECT is a structure that was made before its type was redefined."
  (and (typep object 'structure-object)
       (not (ignore-errors (typep object (class-of object))))))

(defun obsolete-text (condition)
  "What to say of CONDITION if an object is no longer of its own type, or NIL."
  ;; a user's TYPE-ERROR may have neither datum nor type
  (let ((object (and (typep condition 'type-error) (ignore-errors (type-error-datum condition)))))
    (and (obsolete-p object)
         (eq (ignore-errors (type-error-expected-type condition)) (type-of object))
         (format nil "The object is of an obsolete definition of the structure ~A: it was made before that got other slots, and has to be made again."
                 (name-of-type object)))))

(defun print-bare (stream object)
  (format stream "#<~A>" (name-of-type object)))

(defun bare-report (condition)
  "The report of CONDITION, one of the implementation's own, on one line; NIL for others.
It calls no method of the program's: one of these has just failed."
  (ignore-errors
   (let ((home (symbol-package (class-name (class-of condition)))))
     (when (or (eq home (find-package '#:common-lisp)) (implementation-package-p home))
       (or (obsolete-text condition)
           (let ((table (copy-pprint-dispatch nil)))
             (set-pprint-dispatch '(or standard-object structure-object) #'print-bare 1 table)
             (with-standard-io-syntax
               (let ((*print-readably* nil) (*print-pretty* t) (*print-right-margin* 1000)
                     (*print-length* 5) (*print-level* 3) (*print-pprint-dispatch* table)
                     #+sbcl (sbcl:*print-condition-references* nil))
                 (clip (on-one-line (princ-to-string condition)) 200)))))))))

(defmacro safely (&rest body)
  `(call-safely (lambda () ,@body)))

;;; Names

(defvar *implementation-packages*
  (remove-if-not (lambda (name) (eql 0 (search "SB-" name)))
                 (mapcar #'package-name (list-all-packages)))
  "SBCL's own packages that existed before the helper was loaded, with its contribs.")

(defun implementation-package-p (package)
  "True if PACKAGE belongs to the Lisp system itself."
  (and package
       (let ((name (package-name package)))
         ;; a user may well call a package SB-MINE
         #+sbcl (and (eql 0 (search "SB-" name))
                     (or (member name *implementation-packages* :test #'string=)
                         (sb-ext:package-locked-p package)))
         #-sbcl (member name '("SI" "SYSTEM" "C" "CLOS" "EXT" "EXTENSIONS" "FFI" "MP")
                        :test #'string=))))

(defun standard-name-p (name)
  (and (eq (symbol-package name) (find-package '#:common-lisp))
       (not (member name '(condition simple-condition standard-object structure-object t)))))

(defun public-p (name)
  "True if the implementation exports NAME for its users, as it does SB-EXT:TIMEOUT or
SB-BSD-SOCKETS:CONNECTION-REFUSED-ERROR."
  (let ((package (symbol-package name)))
    (and (eq :external (nth-value 1 (find-symbol (symbol-name name) package)))
         (not (member (package-name package)
                      #+sbcl '("SB-KERNEL" "SB-INT" "SB-SYS" "SB-C" "SB-IMPL" "SB-PCL")
                      #-sbcl '("SI" "SYSTEM" "C" "CLOS" "FFI")
                      :test #'string=)))))

(defun class-ancestry (class)
  #+sbcl (sb-mop:class-precedence-list class)
  #+(or ecl clisp) (clos:class-precedence-list class)
  #-(or sbcl ecl clisp) (list class))

(defun condition-name (condition)
  "The name to show for CONDITION's type.  For a class internal to the implementation it is
the nearest superclass that users may name in a handler."
  (let ((name (class-name (class-of condition))))
    (or (and (implementation-package-p (symbol-package name))
             (let ((names (mapcar #'class-name (class-ancestry (class-of condition)))))
               ;; CLISP mixes SIMPLE-ERROR into what has a name of its own
               (or (find-if (lambda (name)
                              (or (informative-public-p name)
                                  (and (standard-name-p name) (not (uninformative-name-p name)))))
                            names)
                   (find-if #'standard-name-p names))))
        name)))

(defun informative-public-p (name)
  "True if NAME, of a condition class of the implementation's, is shown itself.  Classes for
missing packages and exhausted storage are not: each Lisp has its own."
  (and (implementation-package-p (symbol-package name))
       (public-p name)
       (not (subtypep name 'storage-condition))
       (not (search "PACKAGE-DOES-NOT-EXIST" (symbol-name name)))))

(defun uninformative-name-p (name)
  "True of class names that tell only that a condition was signalled."
  (member name '(simple-error simple-condition simple-warning error serious-condition
                 warning condition standard-object t)))

(defun presenting-package-name (symbol)
  "The name of the package that SYMBOL is known by: ASDF for
ASDF/FIND-COMPONENT:X when ASDF exports the same X."
  (let* ((name (package-name (symbol-package symbol)))
         (slash (position #\/ name))
         (short (and slash (subseq name 0 slash))))
    (if (and short
             (find-package short)
             (multiple-value-bind (found status) (find-symbol (symbol-name symbol) short)
               (and (eq found symbol) (eq status :external))))
        short
        name)))

(defun name-label (symbol)
  "SYMBOL as the user sees it: without a package if it is of COMMON-LISP or COMMON-LISP-USER,
else with the package that it is known by."
  (let ((home (symbol-package symbol)))
    (if (or (null home)
            (member home (list (find-package '#:common-lisp)
                               (find-package '#:common-lisp-user))))
        (symbol-name symbol)
        (let ((package (presenting-package-name symbol)))
          (format nil "~A~:[::~;:~]~A" package
                  (eq :external (nth-value 1 (find-symbol (symbol-name symbol) package)))
                  (symbol-name symbol))))))

(defun type-label (condition)
  "The name to show for CONDITION's type; it never fails because of the user's code."
  (handler-case (name-label (condition-name condition))
    (serious-condition () (plain-type-name condition))))

(defun name-of-type (value)
  (let ((name (class-name (class-of value))))
    (if (symbolp name) (name-label name) "object")))

(defun plain-type-name (condition)
  "The name of CONDITION's class, found without calling a generic function."
  (let ((name (ignore-errors #+sbcl (sbcl:classoid-name (sbcl:classoid-of condition))
                             #-sbcl (type-of condition))))
    (if (and name (symbolp name)) (symbol-name name) "ERROR")))

;;; Texts

(defun reportless-p (condition text)
  "True if TEXT, the report of CONDITION, is only how the object prints.  In other Lisps than
SBCL a class may have no report."
  #+sbcl (progn condition text nil)
  #-sbcl (string= text (safely (prin1-to-string condition))))

(defun report-text (condition)
  "The report of CONDITION, printed with standard printer variables."
  (with-standard-io-syntax
    (let ((*print-readably* nil) (*print-pretty* t) (*print-right-margin* 1000)
          (*print-circle* t) (*print-length* 100) (*print-level* 10)
          #+sbcl (sbcl:*print-condition-references* nil))
      ;; A sink bounds it: the whole report may not fit into the heap.
      (let ((sink (make-sink 20000)))
        (multiple-value-bind (trouble failedp)
            (call-safely (lambda () (princ condition sink)))
          (if failedp
              trouble
              (let ((text (sink-string sink)))
                (if (reportless-p condition text)
                    (format nil "A condition of type ~A was signalled." (type-of condition))
                    text))))))))

(defun bare-type-error-text (condition)
  "A TYPE-ERROR in one line: SBCL's report has five, with a variable of its own code."
  (with-standard-io-syntax
    (let ((*print-readably* nil) (*print-circle* t) (*print-length* 20) (*print-level* 5)
          (*package* (find-package '#:common-lisp-user)))
      (clip (format nil "The value ~A is not of type ~A."
                    (safely (prin1-to-string (type-error-datum condition)))
                    (safely (prin1-to-string (type-error-expected-type condition))))
            2000))))

(defun without-stream-lines (text)
  "TEXT without the lines and words by which the reader names its stream."
  (let* ((cut (or (search (format nil "~%~%  Line: ") text)
                  (search (format nil "~%~%    Line: ") text)
                  (search (format nil "~%~%  Stream: ") text)
                  (search (format nil "~%  Stream: ") text)))
         (text (if cut (subseq text 0 cut) text))
         (on (search " on #<SB-INT:FORM-TRACKING-STREAM " text))
         (end (and on (search "}>" text :start2 on))))
    (if end
        (concatenate 'string (subseq text 0 on) (subseq text (+ end 2)))
        text)))

(defun condition-text (condition)
  (string-right-trim '(#\newline #\space #\tab)
                     (cond ((no-input-p condition)
                            (if *input*
                                "End of file: the input that this call was given is used up."
                                "End of file: nobody is there to type or to answer, and standard input is empty. What code is to read is the argument input of evaluate-lisp: {\"input\": \"first line\\n\"}."))
                           ((obsolete-text condition))
                           ((one-thread-text condition))
                           ((eq (type-of condition) 'type-error)
                            (bare-type-error-text condition))
                           ((typep condition 'reader-error)
                            (without-stream-lines (report-text condition)))
                           (t (report-text condition)))))

#+sbcl
(defun one-thread-text (condition)
  "Advice for a CONDITION that says that only a Lisp with one thread can save itself or fork;
NIL for any other condition."
  (let ((control (and (typep condition 'simple-condition)
                      (ignore-errors (simple-condition-format-control condition)))))
    (cond ((string= (plain-type-name condition) "SAVE-WITH-MULTIPLE-THREADS-ERROR")
           (format nil "Only a Lisp with one thread can save itself, and this one serves the session. ~
                        Save from an SBCL of its own: (sb-ext:run-program \"sbcl\" '(\"--non-interactive\" ~
                        \"--load\" \"FILE\" \"--eval\" \"(sb-ext:save-lisp-and-die \\\"lisp.core\\\")\") :search t)~%~
                        save-session writes what this session has defined as such a file."))
          ((and (stringp control) (search "Cannot fork with multiple threads" control))
           (format nil "Only a Lisp with one thread can fork, and this one serves the session. Start a program ~
                        with (sb-ext:run-program \"sh\" '(\"-c\" \"...\") :search t :wait nil), or work beside ~
                        the session in (sb-thread:make-thread (lambda () ...)).")))))

(defun no-input-p (condition)
  "True of the END-OF-FILE that READ-LINE or Y-OR-N-P signals during an evaluation."
  (and (typep condition 'end-of-file)
       (let ((stream (ignore-errors (stream-error-stream condition))))
         (when (typep stream 'two-way-stream)
           (setf stream (two-way-stream-input-stream stream)))
         (or (typep stream 'no-input)
             (and stream (eq stream *input*))))))

;;; Warnings

(defvar *error-sink* nil
  "The value of *ERROR-OUTPUT* in the current evaluation until its code rebinds it.")

(defun captured-p ()
  "True if the program has rebound *ERROR-OUTPUT*.  It then gets warnings as well, as it would
without us."
  (and *error-sink* (not (eq *error-output* *error-sink*))))

(defun muffle (condition)
  "Muffle CONDITION if it can be muffled: (SIGNAL 'WARNING) establishes no restart."
  (let ((restart (and (not (captured-p)) (find-restart 'muffle-warning condition))))
    (when restart (invoke-restart restart))))
