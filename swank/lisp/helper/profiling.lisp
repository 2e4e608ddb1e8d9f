;;;; profiling.lisp -- PROFILE-FORM: where time goes

(cl:in-package #:swank-mcp)

;;; Contributed modules of SBCL are loaded when they are asked for.

(defun need-contrib (name)
  "Load the module NAME, a string in lower case, or refuse the current work."
  #+sbcl
  (unless (find-package (string-upcase name))
    (handler-case (with-standard-io-syntax
                    (let ((*standard-output* (make-broadcast-stream)))
                      (require-own (string-upcase name))))
      (error (condition)
        (refuse "MODULE-MISSING"
                (format nil "SBCL's module ~A cannot be loaded: ~A~%~
                             It comes with SBCL, in the directory contrib below its home (~:[none is set~;~:*~A~]): ~
                             on Debian and Ubuntu `apt-get install sbcl`, on Fedora `dnf install sbcl`, ~
                             on macOS `brew install sbcl`; or set SBCL_HOME to where it is."
                        name (clip (condition-text condition) 300)
                        (sb-int:sbcl-homedir-pathname))))))
  #-sbcl (refuse "MODULE-MISSING" (format nil "~A is there in SBCL only." name)))

(defun sampler (name) (find-symbol name '#:sb-sprof))

;;; The statistical profiler

(defun call-sampled (mode function on-samples)
  "Call FUNCTION under the sampler and, however it ends, ON-SAMPLES, for which the
profiler has those that were taken.  Samples that somebody else has taken are kept."
  #+sbcl
  (let* ((state (sampler "*SAMPLES*")) (before (and (boundp state) (symbol-value state)))
         (running (sampler "*PROFILING*")))
    (when (and running (symbol-value running))
      (refuse "PROFILER-BUSY" "The statistical profiler of this image is running already: (sb-sprof:stop-profiling) ends that."))
    (unwind-protect
         (progn
           (call-named '#:sb-sprof "RESET")
           (call-named '#:sb-sprof "START-PROFILING" :mode mode :max-samples 100000
                       :sample-interval 1/200 :threads (list sb-thread:*current-thread*))
           (funcall function))
      (call-named '#:sb-sprof "STOP-PROFILING")
      (funcall on-samples)
      (setf (symbol-value state) before)))
  #-sbcl (progn mode on-samples (funcall function)))

(defmacro with-report-printing (() &rest body)
  "Print the names of functions on one line and with all packages."
  `(with-standard-io-syntax
     (let ((*print-readably* nil) (*print-pretty* nil) (*package* (find-package '#:keyword)))
       ,@body)))

(defun flat-report ()
  (with-report-printing ()
    (with-output-to-string (out)
      (call-named '#:sb-sprof "REPORT" :type :flat :stream out))))

(defun fields (line count)
  "The first COUNT words of LINE and, last, what follows them."
  (let ((words '()) (at 0))
    (flet ((skip () (setf at (or (position #\space line :start at :test-not #'char=) (length line)))))
      (dotimes (i count)
        (skip)
        (let ((end (or (position #\space line :start at) (length line))))
          (push (subseq line at end) words)
          (setf at end)))
      (skip)
      (nreverse (cons (subseq line at) words)))))

(defun without-prefixes (name)
  "NAME as people write it, of a function that was printed with all packages."
  (setf name (string-trim "\"" (subseq name 0 (search " in #<code" name))))
  (dolist (prefix '("COMMON-LISP-USER::" "COMMON-LISP:") name)
    (loop for at = (search prefix name)
          while at
          do (setf name (concatenate 'string (subseq name 0 at)
                                     (subseq name (+ at (length prefix))))))))

(defun scaffold-p (name)
  "True of functions that are there because we called the user's code."
  (or (search "SWANK-MCP" name) (search "/swank-mcp-helper-" name) (search "SWANK:" name) (search "SWANK/" name)
      (search "SB-THREAD::" name) (search "ALLOC-TRAMP" name)))

(defun passed-through-p (name)
  "True of functions of the system that are of interest only for what they do
themselves."
  (or (eql 0 (search "SB-" name)) (search ":IN SB-" name)
      (eql 0 (search "foreign function" name))
      (member name '("COMMON-LISP:EVAL" "elsewhere") :test #'string=)))

(defun report-rows (report)
  "(VALUES SAMPLES ROWS) in what the profiler printed; a row is (NAME SELF TOTAL)."
  (let ((samples 0) (rows '()))
    (with-input-from-string (in report)
      (loop for line = (read-line in nil)
            while line
            do (cond ((eql 0 (search "Number of samples:" line))
                      (setf samples (parse-integer line :start 18 :junk-allowed t)))
                     ((search " elsewhere" line)
                      (push (list "elsewhere" (parse-integer line :junk-allowed t) 0) rows))
                     (t (destructuring-bind (nr self share total share* cumul share** calls name)
                            (fields line 8)
                          (declare (ignore share share* cumul share** calls))
                          (when (and (plusp (length nr)) (every #'digit-char-p nr) (plusp (length name)))
                            (push (list name (parse-integer self :junk-allowed t)
                                        (parse-integer total :junk-allowed t))
                                  rows)))))))
    (values (or samples 0) (nreverse rows))))

(defun program-row-p (name)
  "True of functions of programs, by the NAME that was printed with all packages:
LEDGER:POST, (COMMON-LISP:LAMBDA (X) :IN LEDGER:POST), (SB-PCL::FAST-METHOD LEDGER:POST ...)."
  (let* ((name (string-trim "\"" name))
         (in (search " :IN " name :from-end t))
         (start (cond (in (+ in 5))
                      ((eql 0 (search "(SB-PCL::" name)) (1+ (or (position #\space name) -1)))
                      (t 0)))
         (start (or (position #\( name :start start :test-not #'char=) 0))
         (colon (position #\: name :start start))
         (end (position-if (lambda (char) (find char " ()")) name :start start)))
    (or (string= name "the form")
        (and colon
             (< colon (or end (length name)))
             (program-package-p (find-package (subseq name start colon)))))))

(defun significant-rows (rows samples limit)
  "Those to show, and how many of them are the program's: these come first, the one
with most samples in all first; then what else has most samples of its own, as a
program often takes its time in functions of the Lisp's that it calls."
  (let ((programs '()) (others '()))
    (loop for (name self total) in rows
          for own = (or self 0)
          ;; a recursive function is counted once a level
          for all = (max own (min samples (or total 0)))
          do (unless (or (scaffold-p name)
                         (zerop all)
                         (and (zerop own) (passed-through-p name)))
               (let ((row (list (without-prefixes name) own all)))
                 (cond ((program-row-p name) (push row programs))
                       ;; one in a thousand tells nothing
                       ((>= (* 1000 all) samples) (push row others))))))
    (flet ((by (first second rows)
             (sort (reverse rows)
                   (lambda (a b) (if (= (funcall first a) (funcall first b))
                                     (> (funcall second a) (funcall second b))
                                     (> (funcall first a) (funcall first b)))))))
      (let* ((programs (first-few (by #'third #'second programs)
                                  (max (ceiling (* 3 limit) 5) (- limit (length others)))))
             (others (by #'second #'third others)))
        (values (append programs (first-few others (- limit (length programs))))
                (length programs))))))

;;; Counting and timing each call of some functions

(defstruct (tally (:copier nil)) name (calls 0) (total 0) (self 0) (depth 0))

(defvar *callees-time* 0 "Of the watched functions that the current one called.")
(defvar *tallying* nil "The tallies of the evaluation that is profiled on this thread.")

(defun tally-call (tally function arguments)
  "Call FUNCTION.  The time of a recursive call is in that of the outermost one."
  (let ((callees 0) (start (microseconds)))
    (incf (tally-calls tally))
    (incf (tally-depth tally))
    (unwind-protect
         (let ((*callees-time* 0))
           (unwind-protect (apply function arguments)
             (setf callees *callees-time*)))
      (let ((time (- (microseconds) start)))
        (decf (tally-depth tally))
        (incf (tally-self tally) (- time callees))
        (when (zerop (tally-depth tally)) (incf (tally-total tally) time))
        (incf *callees-time* time)))))

(defun call-tallied (tallies function)
  (let ((*tallying* tallies) (*callees-time* 0) (table (make-hash-table :test 'equal)))
    (dolist (tally tallies) (setf (gethash (tally-name tally) table) tally))
    (call-with-wrapped
     (mapcar #'tally-name tallies)
     (lambda (name function arguments)
       (if (eq *tallying* tallies)
           (tally-call (gethash name table) function arguments)
           (apply function arguments)))
     function)))

(defun tally-rows (tallies namedp)
  "Of what was not named one by one, as NAMEDP says, only what was called."
  (loop for tally in (sort (copy-list tallies) #'> :key #'tally-self)
        when (or namedp (plusp (tally-calls tally)))
        collect (list (function-spelling (tally-name tally))
                      (tally-self tally) (tally-total tally) (tally-calls tally))))

;;; Which ones

(defparameter *most-tallied* 500 "Functions that one call may watch.")

(defun package-of-functions (name session package)
  "The package that NAME names, unless it names a function."
  (handler-case (progn (wrappable-function name session package) nil)
    (lookup-failure () (package-meant name session))))

(defun functions-of-package (home session)
  (let ((names '()))
    (do-symbols (symbol home)
      (when (and (eq home (symbol-package symbol)) (fboundp symbol))
        (handler-case (pushnew (wrappable-function (spelling symbol) session nil) names :test #'equal)
          (lookup-failure () nil))))
    (cond ((null names)
           (fail-lookup "NO-FUNCTION" '() "The package ~A has no function of its own that can be watched."
                        (package-name home)))
          ((> (length names) *most-tallied*)
           (fail-lookup "TOO-MANY-FUNCTIONS" '() "The package ~A has ~D functions; at most ~D can be watched. Name those that matter."
                        (package-name home) (length names) *most-tallied*)))
    names))

(defun functions-to-tally (text session package)
  "The functions named in TEXT, all of those packages that are named there, and whether
each was named by itself."
  (let* ((given (names-in text))
         (packages (mapcar (lambda (name) (package-of-functions name session package)) given)))
    (if (notany #'identity packages)
        (values (wrappable-functions text session package) t)
        (values (remove-duplicates
                 (loop for name in given
                       for home in packages
                       append (if home
                                  (functions-of-package home session)
                                  (wrappable-functions name session package)))
                 :test #'equal)
                nil))))

;;; The work

(defun form-function (form)
  "A compiled function of FORM, whose name in backtraces and profiles says so."
  (compile nil #+sbcl `(sb-int:named-lambda "the form" () ,form) #-sbcl `(lambda () ,form)))

(defun profile-form (code mode &key (session "default") (token 0) package (functions "") (repeat 1) (limit 30))
  "Compile the form in CODE and call it REPEAT times.  MODE is :CPU, :TIME or
:ALLOC for samples, or :CALLS to time each call of FUNCTIONS, names of functions or
packages.  The answer is
EVALUATE's, without values, with :REPORT, also when it was stopped half way:

  (:VALUE TEXT :ELAPSED MICROSECONDS :BYTES n :SAMPLES n
   :ROWS ((NAME SELF TOTAL CALLS) ...) :PROGRAMS n)

The first PROGRAMS rows are of the program's functions, the others of the Lisp's.  SELF and TOTAL are numbers of samples, or microseconds; BYTES is what was allocated."
  (call-as-work
   (lambda (evaluation read)
     (let* ((namedp nil)
            (names (and (eq mode :calls)
                        (refusing-failures
                         evaluation
                         (lambda ()
                           (multiple-value-bind (names each)
                               (functions-to-tally functions (evaluation-session evaluation) package)
                             (setf namedp each)
                             names)))))
            (function (form-function (funcall read code)))
            (value nil) (start 0) (report '()))
       (unless (eq mode :calls) (need-contrib "sb-sprof"))
       (tell evaluation (lambda () (append (and value (list :value value)) report)))
       (setf start (microseconds))
       (flet ((run ()
                (let ((last nil))
                  (dotimes (i repeat) (setf last (funcall function)))
                  (setf value (brief last))))
              (report (&rest more)
                (setf report (list* :elapsed (- (microseconds) start) more))))
         (if (eq mode :calls)
             (let ((tallies (mapcar (lambda (name) (make-tally :name name)) names)))
               (unwind-protect (call-tallied tallies #'run)
                 (report :rows (tally-rows tallies namedp))))
             (let ((elapsed 0) (bytes 0))
               (call-sampled
                mode
                (lambda ()
                  (let ((before (bytes-consed)))
                    (unwind-protect (run)
                      (setf elapsed (- (microseconds) start)
                            bytes (- (bytes-consed) before)))))
                (lambda ()
                  (multiple-value-bind (samples rows)
                      (if (eq mode :alloc) (allocation-rows) (report-rows (flat-report)))
                    (multiple-value-bind (rows programs) (significant-rows rows samples limit)
                      (report :samples samples :bytes bytes :programs programs
                              :rows (loop for (name self total) in rows
                                          collect (list name self total 0))))
                    (setf (getf report :elapsed) elapsed)))))))
       '()))
   :code code :session session :token token :package package))
