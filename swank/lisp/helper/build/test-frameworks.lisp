;;;; test-frameworks.lisp -- the results of tests, as each framework reports them

(cl:in-package #:swank-mcp)

;;; Each of these frameworks has one function through which every result passes.  While tests run
;;; for us that function is encapsulated; only the thread of our evaluation is affected.  So the
;;; results are known one by one, also if the time is up, and whoever starts the tests.  The
;;; frameworks need not be there when this is compiled: their names are looked up later.

(defparameter *max-failures* 100)
(defparameter *max-ran* 5000 "Tests whose status is told one by one.")

(defstruct (test-run (:copier nil))
  (passed 0) (failed 0) (errors 0) (skipped 0)
  (begun nil)                            ; when the system had been loaded, or NIL
  (tests (make-hash-table :test 'equal)) ; name to the worst status of its checks
  (seen (make-hash-table :test 'eq))     ; results: some frameworks report one twice
  (sources (make-hash-table :test 'equal)) ; directory to its files, see DIRECTORY-TEXTS
  (labels '())                           ; of the frameworks
  (underway nil) (results '())           ; see CALL-AROUND-FIVEAM
  (untested nil)                         ; why there was nothing to run, or NIL
  (returned nil)                         ; what the TEST-OP has returned, as text, or NIL
  (signalled '()) (looking 0)            ; see NOTE-SIGNALLED
  (failures '()))                        ; ((TEST STATUS FORM REASON PLACE FRAMES) ...), newest first

(defvar *test-part-separator* " > " "Between the name of a test and that of a part of it.")

(defmacro run-record (run label test status form reason place &optional condition)
  "Count a result.  FORM, REASON and PLACE, strings or NIL, are evaluated only for a failure that
is shown: a suite may have 100,000 checks.  CONDITION is what was signalled, if it is an error."
  `(record-result ,run ,label ,test ,status (lambda () (values ,form ,reason ,place)) ,condition))

(defun worst-status (a b)
  (find-if (lambda (status) (or (eq a status) (eq b status))) '(:error :failed :passed :skipped)))

(defun record-result (run label test status details condition)
  (pushnew label (test-run-labels run) :test #'string=)
  (let ((name (subseq test 0 (search *test-part-separator* test))) (tests (test-run-tests run)))
    (setf (gethash name tests) (worst-status status (gethash name tests))))
  (note-missing-cell condition)
  (ecase status
    (:passed (incf (test-run-passed run)))
    (:skipped (incf (test-run-skipped run)))
    ((:failed :error)
     (if (eq status :failed) (incf (test-run-failed run)) (incf (test-run-errors run)))
     (when (< (length (test-run-failures run)) *max-failures*)
       (multiple-value-bind (form reason place) (funcall details)
         (push (list test (string-downcase status)
                     (or form "") (or reason "") (or place "")
                     (frames-of-signalled condition run))
               (test-run-failures run)))))))

(defun frames-of-signalled (condition run)
  "Texts of the frames where CONDITION was signalled, with their places."
  #+sbcl (let ((frames (rest (assoc condition (test-run-signalled run)))))
           (and frames (apply #'with-places frames)))
  #-sbcl (progn condition run nil))

(defun run-for-wire (run)
  (plist-without-nils
   :frameworks (test-run-labels run)
   :tests (hash-table-count (test-run-tests run))
   :passed (test-run-passed run) :failed (test-run-failed run)
   :errors (test-run-errors run) :skipped (test-run-skipped run)
   :failures (reverse (test-run-failures run))
   :ran (loop for name being the hash-keys of (test-run-tests run) using (hash-value status)
              repeat *max-ran*
              collect (list name (string-downcase status)))
   :begun (and (test-run-begun run) t)
   :took (and (test-run-begun run) (- (microseconds) (test-run-begun run)))
   :untested (test-run-untested run) :returned (test-run-returned run)))

(defun test-text (object)
  "OBJECT on one line, for a report."
  (let ((*print-pretty* nil) (*print-length* 20) (*print-level* 6) (*print-circle* t))
    (bounded-text object 500)))

(defun text-of-reason (reason)
  (typecase reason
    (null nil)
    (string (clip reason 1000))
    (condition (format nil "~A: ~A" (type-label reason) (clip (condition-text reason) 1000)))
    (t (test-text reason))))

;;; Frameworks compile their tests with EVAL or COMPILE, so SBCL does not know their source.  Tests
;;; are searched in the directory of the file that defines their package.

#+sbcl
(defun package-file (package)
  "The file that made PACKAGE, or one that defines a function of it."
  (or (package-origin package)
      (do-symbols (symbol package)
        (when (and (eq (symbol-package symbol) package) (fboundp symbol))
          (let ((file (ignore-errors
                       (sb-introspect:definition-source-pathname
                        (sb-introspect:find-definition-source (fdefinition symbol))))))
            (when file (return (namestring file))))))))

(defun package-directory (package)
  (let ((file (package-file package)))
    (and file (make-pathname :name nil :type nil :version nil :defaults (pathname file)))))

(defun directory-texts (run directory)
  "((FILE . TEXT) ...) of the Lisp files in DIRECTORY."
  (let ((key (namestring directory)))
    (multiple-value-bind (texts foundp) (gethash key (test-run-sources run))
      (if foundp
          texts
          (setf (gethash key (test-run-sources run))
                (loop for file in (ignore-errors (lisp-files directory))
                      for text = (file-text file)
                      when text collect (cons file text)))))))

(defun test-position (text name)
  "Where the form that defines the test NAME begins in TEXT: (TEST NAME ...), (DEFTEST (NAME ...)
...), or another operator that ends with TEST."
  (loop for at = (search name text :test #'char-equal)
        then (search name text :test #'char-equal :start2 (1+ at))
        while at
        do (let* ((end (+ at (length name)))
                  (before (position-if-not (lambda (char) (or (blankp char) (find char "('\"")))
                                           text :end at :from-end t))
                  (open (and before (position #\( text :end before :from-end t))))
             (when (and open
                        (< before (1- at))
                        (or (= end (length text))
                            (blankp (char text end))
                            (find (char text end) "()\""))
                        (find-if #'blankp text :start before :end at)
                        (notany #'blankp (subseq text open (1+ before)))
                        (<= 4 (- (1+ before) open))
                        (string-equal "test" text :start2 (- before 3) :end2 (1+ before)))
               (return open)))))

(defun own-file-first (package texts)
  "TEXTS, with that of the file of PACKAGE before others, which may have tests of the same name."
  (flet ((ownp (entry) (string= (native-name (car entry)) (native-name (package-file package)))))
    (append (remove-if-not #'ownp texts) (remove-if #'ownp texts))))

(defun test-place (run name package)
  "\"FILE:LINE\" of the test called NAME in PACKAGE, or NIL."
  (let ((directory (and (packagep package) (package-directory package))))
    (when directory
      (loop for (file . text) in (own-file-first package (directory-texts run directory))
            for position = (test-position text name)
            when position
              return (format nil "~A:~D" (native-name file)
                             (values (line-and-column text position)))))))

;;; A framework handles what a test signals and keeps only the condition.  The stack can be seen
;;; only while it is signalled.  SIGNAL tests *BREAK-ON-SIGNALS* before any handler runs, and our
;;; predicate in it, which is false, takes the frames.

(defvar *test-run* nil "The TEST-RUN of this thread, or NIL.")

(defparameter *looking-limit* 3000000
  "How many microseconds of the processor one run may spend on backtraces: programs also signal
errors that they handle.")

(defun note-signalled (condition)
  "Keep the frames where CONDITION is signalled, which may become the error of a test.  Return NIL."
  (let ((run *test-run*))
    (when (and run (typep condition 'error) (< (test-run-looking run) *looking-limit*))
      (let ((start (own-microseconds)))
        (ignore-errors
         (push (cons condition (test-frames)) (test-run-signalled run))
         (let ((old (nthcdr 300 (test-run-signalled run))))
           (when old (setf (rest old) '()))))
        (incf (test-run-looking run) (- (own-microseconds) start)))))
  nil)

(defun test-frames ()
  "(TEXTS SPOTS) of the innermost frames up to the framework's; see WITH-PLACES."
  #+sbcl
  (multiple-value-bind (texts total frames)
      (collect-frames 8 *package* :until #'framework-frame-p)
    (declare (ignore total))
    (list texts (and texts (mapcar #'frame-spot frames))))
  #-sbcl '())

#+sbcl
(defun frame-in-p (frame packages)
  "True if FRAME is of a function of one of PACKAGES, or of a package below one of them."
  (let* ((symbol (frame-name-symbol (sbcl:debug-fun-name (sbcl:frame-debug-fun frame))))
         (package (and symbol (symbol-package symbol))))
    (and package
         (some (lambda (name)
                 (or (string= name (package-name package))
                     (eql 0 (search (concatenate 'string name "/") (package-name package)))))
               packages))))

(defparameter *framework-packages*
  '("IT.BESE.FIVEAM" "FIVEAM" "ROVE" "PARACHUTE" "ORG.SHIRAKUMO.PARACHUTE" "REGRESSION-TEST" "SB-RT"
    "FIASCO" "1AM" "LISP-UNIT2" "PROVE.TEST" "PROVE.SUITE" "CLUNIT"))

#+sbcl
(defun framework-frame-p (frame)
  (let ((name (sbcl:debug-fun-name (sbcl:frame-debug-fun frame))))
    (or (frame-in-p frame (list* "ASDF" "UIOP" *framework-packages*))
        ;; the function that FiveAM makes of a test
        (and (typep name '(cons symbol (cons symbol)))
             (eql 0 (search "%TEST-" (symbol-name (second name))))))))

#+sbcl
(defun inside-framework-p ()
  "True if a framework's function has called this one."
  (sbcl:map-backtrace (lambda (frame)
                        (when (frame-in-p frame *framework-packages*)
                          (return-from inside-framework-p t)))
                      :count *deepest-frame*)
  nil)

(defun only-told-p (run)
  "True of an error by which a TEST-OP tells that tests have failed."
  #+sbcl (and (plusp (+ (test-run-failed run) (test-run-errors run)))
              (not (inside-framework-p)))
  #-sbcl (progn run nil))

;;; The frameworks

(defstruct (framework (:copier nil))
  label package                         ; strings
  function                              ; (PACKAGE NAME) of the function that gets the results
  recorder                              ; function of the run, its arguments and its value
  whole around                          ; (PACKAGE NAME) of the function that runs tests, and the
                                        ; function that is called around it, with the run, a
                                        ; function that calls it, and its arguments
  (tests (constantly '()))              ; function that returns ((NAME PACKAGE DESIGNATOR) ...)
  runner                                ; function of a designator
  quiet)                                ; (PACKAGE NAME) of a stream variable, or NIL

(defvar *frameworks* '())

(defvar *returnedp* nil
  "While a recorder is called: true if the function has returned, and was not left otherwise.")

(defun framework-loaded-p (framework)
  (apply #'named-function (framework-function framework)))

(defun instance-of-named-p (object package name)
  (let ((class (named-symbol package name)))
    (and class (find-class class nil) (typep object class))))

(defun read-slot (object package accessor)
  (ignore-errors (call-named package accessor object)))

(defun symbol-test (symbol)
  (list (symbol-name symbol)
        (if (symbol-package symbol) (package-name (symbol-package symbol)) "")
        symbol))

;;; FiveAM: (ADD-RESULT TYPE ...) returns the list of results, newest first.  Some do not count:
;;; those within FOR-ALL, or of tests that a test runs.  Tests skipped because of another do not
;;; pass through it.  RUN returns the results that count; if it does not return, we have only the
;;; others.

(defun record-fiveam (run arguments value)
  (declare (ignore arguments))
  (when value
    (if (test-run-underway run)
        (push (first value) (test-run-results run))
        (record-fiveam-result run (first value)))))

(defun call-around-fiveam (run function arguments)
  (declare (ignore arguments))
  (if (test-run-underway run)
      (funcall function)
      (let ((returned :nothing))
        (setf (test-run-underway run) t)
        (unwind-protect (setf returned (funcall function))
          (let ((seen (reverse (shiftf (test-run-results run) '()))))
            (setf (test-run-underway run) nil)
            (dolist (result (if (listp returned) (in-order-seen returned seen) seen))
              (ignore-errors (record-fiveam-result run result))))))))

(defun in-order-seen (results seen)
  "RESULTS, first those that were SEEN, in that order."
  (flet ((table (list)
           (let ((table (make-hash-table :test 'eq)))
             (dolist (result list table) (setf (gethash result table) t)))))
    (let ((wanted (table results)) (known (table seen)))
      (append (remove-if-not (lambda (result) (gethash result wanted)) seen)
              (remove-if (lambda (result) (gethash result known)) results)))))

(defun record-fiveam-result (run result)
  (let* ((test (read-slot result "FIVEAM" "TEST-CASE"))
         (name (and test (read-slot test "FIVEAM" "NAME")))
         (status (flet ((is (name) (instance-of-named-p result "FIVEAM" name)))
                   (cond ((is "TEST-PASSED") :passed)
                         ((is "TEST-SKIPPED") :skipped)
                         ((is "UNEXPECTED-TEST-FAILURE") :error)
                         (t :failed))))
         (form (read-slot result "FIVEAM" "TEST-EXPR"))
         (condition (and (eq status :error) (read-slot result "FIVEAM" "ACTUAL-CONDITION")))
         (*package* (or (and name (symbolp name) (symbol-package name)) *package*)))
    (run-record run "FiveAM" (if (symbolp name) (spelling name) (test-text name)) status
                (and form (test-text form))
                (text-of-reason (or condition (read-slot result "FIVEAM" "REASON")))
                (and name (symbolp name)
                     (test-place run (symbol-name name) (symbol-package name)))
                condition)))

(push (make-framework
       :label "FiveAM" :package "FIVEAM" :function '("FIVEAM" "ADD-RESULT")
       :recorder 'record-fiveam
       :whole '("FIVEAM" "RUN") :around 'call-around-fiveam
       :tests (lambda () (mapcar #'symbol-test (remove nil (call-named "FIVEAM" "TEST-NAMES"))))
       ;; called by its name: FDEFINITION would leave out the encapsulation
       :runner (lambda (test) (funcall (named-symbol "FIVEAM" "RUN") test))
       :quiet '("FIVEAM" "*TEST-DRIBBLE*"))
      *frameworks*)

;;; Rove: (RECORD STATS RESULT), where a result is an assertion or a whole test.

(defun rove-names (stats)
  "The name of the DEFTEST, a symbol, and those of the TESTING forms in it."
  (let ((names (reverse (ignore-errors
                         (mapcar (lambda (context) (call-named "ROVE/CORE/STATS" "STATS-NAME" context))
                                 (slot-value stats (named-symbol "ROVE/CORE/STATS" "CONTEXTS")))))))
    (remove nil (or (member-if (lambda (name) (and name (symbolp name))) names) names))))

(defun rove-test-name (stats)
  (format nil (concatenate 'string "~{~A~^" *test-part-separator* "~}")
          (mapcar (lambda (name) (if (symbolp name) (spelling name) (clip (princ-to-string name) 200)))
                  (rove-names stats))))

(defun rove-test-package (stats)
  (let ((name (first (rove-names stats))))
    (or (and name (symbolp name) (symbol-package name)) *package*)))

(defun record-rove (run arguments value)
  (declare (ignore value))
  (destructuring-bind (stats result &rest more &aux (*package* (rove-test-package stats))) arguments
    (declare (ignore more))
    (flet ((is (name) (instance-of-named-p result "ROVE/CORE/RESULT" name))
           (of (accessor) (read-slot result "ROVE/CORE/RESULT" accessor)))
      (when (is "ASSERTION")
        (let ((reason (of "ASSERTION-REASON")) (form (of "ASSERTION-FORM"))
              (place (of "ASSERTION-SOURCE-LOCATION")))
          (run-record run "Rove" (rove-test-name stats)
                      (cond ((is "PASSED") :passed) ((is "PENDING") :skipped)
                            ((typep reason 'condition) :error)
                            (t :failed))
                      (and (consp form) (test-text form))
                      (text-of-reason
                       (or reason
                           (format nil "~A~@[ ~{~A~^, ~}~]" (of "ASSERTION-DESCRIPTION")
                                   (loop for form in (of "ASSERTION-ARGS")
                                         for value in (of "ASSERTION-VALUES")
                                         unless (constantp form)
                                           collect (format nil "~A = ~A" (test-text form)
                                                           (test-text value))))))
                      (and (consp place)
                           (format nil "~A~@[:~D~]" (first place)
                                   (find-if #'integerp (rest place))))
                      reason))))))

(defun rove-tests ()
  (loop for suite in (call-named "ROVE/CORE/SUITE/PACKAGE" "ALL-SUITES")
        append (mapcar #'symbol-test (call-named "ROVE/CORE/SUITE/PACKAGE" "SUITE-TESTS" suite))))

(push (make-framework
       :label "Rove" :package "ROVE" :function '("ROVE/CORE/STATS" "RECORD")
       :recorder 'record-rove :tests 'rove-tests
       :runner (lambda (test) (call-named "ROVE" "RUN-TEST" test))
       :quiet '("ROVE" "*REPORT-STREAM*"))
      *frameworks*)

;;; Parachute: (EVAL-IN-CONTEXT REPORT RESULT) completes a result.

(defun parachute-result-p (object class)
  (instance-of-named-p object "PARACHUTE" class))

(defun parachute-test-name (test)
  (let ((name (read-slot test "PARACHUTE" "NAME")) (home (read-slot test "PARACHUTE" "HOME")))
    (if (and name (symbolp name))
        (spelling name)
        (format nil "~A::~A" (if (packagep home) (package-name home) "?") name))))

(defun failed-by-itself-p (result)
  "True of the result of a test that has failed though none of its checks has."
  (and (parachute-result-p result "TEST-RESULT")
       (eq :failed (read-slot result "PARACHUTE" "STATUS"))
       (notany (lambda (child) (eq :failed (read-slot child "PARACHUTE" "STATUS")))
               (read-slot result "PARACHUTE" "RESULTS"))))

(defun record-parachute (run arguments value)
  (declare (ignore value))
  (let* ((result (second arguments))
         (parent (ignore-errors (symbol-value (named-symbol "PARACHUTE" "*PARENT*"))))
         (of-test (if (parachute-result-p result "TEST-RESULT") result parent))
         (test (and of-test (read-slot of-test "PARACHUTE" "EXPRESSION")))
         (status (and (parachute-result-p result "RESULT") (read-slot result "PARACHUTE" "STATUS"))))
    (when (and (member status '(:passed :failed :skipped))
               (or (not (parachute-result-p result "PARENT-RESULT"))
                   (eq status :skipped)
                   (failed-by-itself-p result))
               (not (gethash result (test-run-seen run))))
      (setf (gethash result (test-run-seen run)) t)
      (let ((got (read-slot result "PARACHUTE" "VALUE"))
            (*package* (if (parachute-result-p of-test "TEST-RESULT")
                           (or (read-slot test "PARACHUTE" "HOME") *package*)
                           *package*)))
        (run-record run "Parachute"
                    (if (parachute-result-p of-test "TEST-RESULT")
                        (parachute-test-name test)
                        (test-text test))
                    (if (and (eq status :failed) (typep got 'error)) :error status)
                    (if (eq result of-test) nil (test-text (read-slot result "PARACHUTE" "EXPRESSION")))
                    (text-of-reason
                     (cond ((and (eq status :failed) (typep got 'error)) got)
                           ((eq result of-test) (read-slot result "PARACHUTE" "DESCRIPTION"))
                           (t (ignore-errors
                               (call-named "PARACHUTE" "FORMAT-RESULT" result :extensive)))))
                    (and (parachute-result-p of-test "TEST-RESULT")
                         (test-place run (string (read-slot test "PARACHUTE" "NAME"))
                                     (read-slot test "PARACHUTE" "HOME")))
                    got)))))

(defun parachute-tests ()
  (loop for package in (call-named "PARACHUTE" "TEST-PACKAGES")
        append (loop for test in (call-named "PARACHUTE" "PACKAGE-TESTS" package)
                     collect (list (string (read-slot test "PARACHUTE" "NAME"))
                                   (package-name package) test))))

(push (make-framework
       :label "Parachute" :package "PARACHUTE" :function '("PARACHUTE" "EVAL-IN-CONTEXT")
       :recorder 'record-parachute :tests 'parachute-tests
       :runner (lambda (test)
                 (call-named "PARACHUTE" "TEST" test :report (named-symbol "PARACHUTE" "PLAIN")
                                                     :output (make-broadcast-stream))))
      *frameworks*)
