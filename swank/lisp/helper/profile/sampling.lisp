;;;; sampling.lisp -- SBCL's statistical profiler, and its report parsed

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

(defun flat-report ()
  (with-report-printing ()
    (with-output-to-string (out)
      (call-named '#:sb-sprof "REPORT" :type :flat :stream out))))

(defun fields (line count)
  "The first COUNT words of LINE, and the rest."
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

(defun report-rows (report)
  "(VALUES SAMPLES ROWS) of REPORT, which the profiler printed; a row is (NAME SELF TOTAL)."
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
  "True if NAME, printed with all packages, is a function of a program: LEDGER:POST,
(COMMON-LISP:LAMBDA (X) :IN LEDGER:POST), (SB-PCL::FAST-METHOD LEDGER:POST ...)."
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
  "(VALUES ROWS PROGRAMS): the rows to show, and how many of them are the program's.  These come
first, by all samples; then the others by their own samples, because a program often spends its
time in functions of the Lisp's that it calls."
  (let ((programs '()) (others '()))
    (loop for (name self total) in rows
          for own = (or self 0)
          ;; a recursive function is counted once for each level
          for all = (max own (min samples (or total 0)))
          do (unless (or (scaffold-p name)
                         (zerop all)
                         (and (zerop own) (passed-through-p name)))
               (let ((row (list (without-prefixes name) own all)))
                 (cond ((program-row-p name) (push row programs))
                       ;; less than one sample in a thousand means nothing
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
