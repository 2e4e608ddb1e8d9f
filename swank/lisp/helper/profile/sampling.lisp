;;;; sampling.lisp -- SBCL's statistical profiler, and which functions are the program's

(cl:in-package #:swank-mcp)

;;; SBCL's contributed modules are loaded when they are needed.

(defun need-contrib (name)
  "Load the module NAME, a string in lower case, or refuse the current work."
  (unless (find-package (string-upcase name))
    (handler-case (with-standard-io-syntax
                    (let ((*standard-output* (make-broadcast-stream)))
                      (require-contrib (string-upcase name))))
      (error (condition)
        (refuse "MODULE-MISSING"
                (format nil "SBCL's module ~A cannot be loaded: ~A~%~
                             It comes with SBCL, in the directory contrib below its home (~:[none is set~;~:*~A~]): ~
                             on Debian and Ubuntu `apt-get install sbcl`, on Fedora `dnf install sbcl`, ~
                             on macOS `brew install sbcl`; or set SBCL_HOME to where it is."
                        name (clip (condition-text condition) 300)
                        (sbcl:sbcl-homedir-pathname)))))))

(defun sampler (name) (find-symbol name '#:sb-sprof))

;;; The statistical profiler

(defun call-sampled (mode function on-samples)
  "Call FUNCTION while samples are taken, and then, however it ended, ON-SAMPLES, which can read
them.  Samples that somebody else has taken are kept."
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
      (setf (symbol-value state) before))))

(defmacro with-report-printing (() &rest body)
  "Evaluate BODY; names of functions print on one line and with all packages."
  `(with-standard-io-syntax
     (let ((*print-readably* nil) (*print-pretty* nil) (*package* (find-package '#:keyword)))
       ,@body)))

(defun without-prefixes (name)
  "NAME, of a function printed with all packages, as people write it."
  (setf name (string-trim "\"" (subseq name 0 (search " in #<code" name))))
  (dolist (prefix '("COMMON-LISP-USER::" "COMMON-LISP:") name)
    (loop for at = (search prefix name)
          while at
          do (setf name (concatenate 'string (subseq name 0 at)
                                     (subseq name (+ at (length prefix))))))))

(defun scaffold-p (name)
  "True of functions that are on the stack because we called the user's code."
  (or (search "SWANK-MCP" name) (search "/swank-mcp-helper-" name) (search "SWANK:" name) (search "SWANK/" name)
      (search "SB-THREAD::" name) (search "ALLOC-TRAMP" name)))

(defun passed-through-p (name)
  "True of functions of the system, which count only for what they do themselves."
  (or (eql 0 (search "SB-" name)) (search ":IN SB-" name)
      (eql 0 (search "foreign function" name))
      (member name '("COMMON-LISP:EVAL" "elsewhere") :test #'string=)))

(defun name-package (name)
  "The package in the NAME of a function, printed with all packages: LEDGER of LEDGER:POST,
(COMMON-LISP:LAMBDA (X) :IN LEDGER:POST), (SB-PCL::FAST-METHOD LEDGER:POST ...); or NIL."
  (let* ((name (string-trim "\"" name))
         (in (search " :IN " name :from-end t))
         (start (cond (in (+ in 5))
                      ((eql 0 (search "(SB-PCL::" name)) (1+ (or (position #\space name) -1)))
                      (t 0)))
         (start (or (position #\( name :start start :test-not #'char=) 0))
         (colon (position #\: name :start start))
         (end (position-if (lambda (char) (find char " ()")) name :start start)))
    (and colon
         (< colon (or end (length name)))
         (find-package (subseq name start colon)))))

(defun below-p (file roots)
  "True if FILE lies below one of ROOTS, native names of directories, and not where managers of
dependencies keep those."
  (let ((name (native-name (or (ignore-errors (truename file)) file))))
    (some (lambda (root)
            (and (eql 0 (search root name))
                 (not (search "/." name :start2 (1- (length root))))
                 (not (search "/ocicl/" name :start2 (1- (length root))))))
          roots)))

(defun project-package-p (package roots)
  "True if PACKAGE is of the project whose systems are defined in ROOTS: defined in a file below,
or in none, as by a session.  Without ROOTS every package is."
  (let ((files (loop for source in (definition-sources (package-name package) :package)
                     for file = (sb-introspect:definition-source-pathname source)
                     when file collect file)))
    (or (null roots)
        (null files)
        (some (lambda (file) (and (not (typep file 'logical-pathname)) (below-p file roots))) files))))

(defun frame-kind (name roots)
  "0 if NAME, printed with all packages, is a function of the project, 1 of another program, 2 of the
Lisp's that programs call, 3 of its internal ones."
  (let ((package (name-package name)))
    (cond ((string= (string-trim "\"" (subseq name 0 (search " in #<code" name))) "the form") 0)
          ((passed-through-p name) 3)
          ((program-package-p package) (if (project-package-p package roots) 0 1))
          (t 2))))

(defun significant-rows (rows samples limit &key roots only)
  "(VALUES ROWS PROJECTS PROGRAMS): the rows to show, and how many of them are the project's and
another program's.  These come first, each by all samples, then the Lisp's.  Rows are
(NAME SELF TOTAL).  With ONLY, a package, all rows are of its functions."
  (let ((kinds (list '() '() '())))
    (loop for (name own total) in rows
          for all = (max own total)
          for kind = (frame-kind name roots)
          do (unless (or (scaffold-p name)
                         (zerop all)
                         (and (zerop own) (passed-through-p name))
                         (if only
                             (not (eq only (name-package name)))
                             ;; less than one sample in a thousand means nothing
                             (and (>= kind 2) (< (* 1000 all) samples))))
               (push (list (without-prefixes name) own all) (nth (min kind 2) kinds))))
    (destructuring-bind (projects programs others)
        (mapcar (lambda (rows)
                  (sort (reverse rows) (lambda (a b) (lexicographically< (list (third b) (second b))
                                                                         (list (third a) (second a))))))
                kinds)
      (let* ((room (max (ceiling (* 3 limit) 5) 5))
             (projects (first-few projects (max room (- limit (length programs) (length others)))))
             (left (- limit (length projects)))
             (programs (first-few programs (max 0 (ceiling left 2) (- left (length others)))))
             (others (first-few others (max 0 (- left (length programs))))))
        (values (append projects programs others) (length projects) (length programs))))))
