;;;; profiling.lisp -- PROFILE-FORM: where time and memory go

(cl:in-package #:swank-mcp)

;;; Counting and timing each call of some functions

(defstruct (tally (:copier nil)) name (calls 0) (total 0) (self 0) (depth 0))

(defvar *callees-time* 0 "The time of the watched functions that the current one has called.")
(defvar *tallying* nil "The TALLYs of the evaluation that is profiled on this thread.")

(defun tally-call (tally function arguments)
  "Call FUNCTION and add to TALLY.  The time of a recursive call counts in the outermost one."
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
  "((NAME SELF TOTAL CALLS) ...), by total.  Unless NAMEDP, which says that the user named each
function, only of functions that were called."
  (loop for tally in (sort (copy-list tallies) #'> :key #'tally-total)
        when (or namedp (plusp (tally-calls tally)))
        collect (list (function-spelling (tally-name tally))
                      (tally-self tally) (tally-total tally) (tally-calls tally))))

;;; The functions to watch

(defparameter *most-tallied* 500 "How many functions one call may watch.")

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
  "(VALUES NAMES NAMEDP): the functions that TEXT names, with all functions of packages that it
names; and whether it names each function itself."
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

(defun existing-directories (names)
  "The native names, with links followed, of the directories that exist among NAMES, ((NAME) ...)."
  (loop for (name) in names
        for found = (ignore-errors (truename (native-file name)))
        when found collect (native-name found)))

(defun form-function (form)
  "A compiled function of FORM, called \"the form\" in backtraces and profiles."
  (compile nil #+sbcl `(sbcl:named-lambda "the form" () ,form) #-sbcl `(lambda () ,form)))

(defun profile-form (code mode &key (session "default") (token 0) package (functions "") (repeat 1) (limit 30) project)
  "Compile the form in CODE and call it REPEAT times.  MODE is :CPU, :TIME or :ALLOC for samples,
or :CALLS to time each call of FUNCTIONS, names of functions or packages, or else of those of PACKAGE.
With PACKAGE samples are told of its functions alone.  PROJECT is ((DIRECTORY) ...) of the definitions of the project's
systems.  The answer is EVALUATE's, without values, with a :REPORT also if it was stopped half way:

  (:VALUE TEXT :ELAPSED MICROSECONDS :BYTES n :SAMPLES n
   :ROWS ((NAME SELF TOTAL CALLS) ...) :PROJECTS n :PROGRAMS n
   :FRAMES ((NAME KIND) ...) :STACKS ((COUNT FRAME ...) ...))

The first PROJECTS rows are of the project's functions, the next PROGRAMS of other programs', the
others of the Lisp's.  SELF and TOTAL are numbers of samples, or microseconds; BYTES is what was
allocated; a stack has the places of its functions in FRAMES, outermost first."
  (call-as-work
   (lambda (evaluation read)
     (let* ((namedp nil)
            (names (and (eq mode :calls)
                        (refusing-failures
                         evaluation
                         (lambda ()
                           (multiple-value-bind (names each)
                               (if (string= functions "")
                                   (let ((session (evaluation-session evaluation)))
                                     (functions-of-package (named-package package session) session))
                                   (functions-to-tally functions (evaluation-session evaluation) package))
                             (setf namedp each)
                             names)))))
            (function (form-function (funcall read code)))
            (value nil) (start 0) (report '()))
       (unless (eq mode :calls) (need-contrib "sb-sprof"))
       (report-with evaluation (lambda () (append (and value (list :value value)) report)))
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
                  (multiple-value-bind (samples rows stacks) (sampled-stacks mode)
                    (let ((roots (existing-directories project)))
                      (multiple-value-bind (rows projects programs)
                          (significant-rows rows samples limit
                                            :roots roots
                                            :only (and package (find-package-named package)))
                        (apply #'report :samples samples :bytes bytes :projects projects :programs programs
                                        :rows (loop for (name self total) in rows
                                                    collect (list name self total 0))
                                        (stacks-for-wire stacks roots))))
                    (setf (getf report :elapsed) elapsed)))))))
       '()))
   :code code :session session :token token :package package))
