;;;; suite.lisp -- how the helper's tests are written and run: FiveAM in the helper's own package

(cl:in-package #:swank-mcp)

(fiveam:def-suite swank-mcp)

;;; The body of a test runs on a thread of its own.  FiveAM handles every error around a
;;; test, and so would take those that an evaluation is to report in the debugger hook; and
;;; while ASDF runs the tests, its dynamic bindings say that every file belongs to a system.

(defvar *found* '()
  "For each CHECK of the current test, newest first, NIL or how it has failed.")

(defmacro check (form expected)
  "FORM evaluates to something EQUALP to EXPECTED."
  `(note-check ',form ,form ,expected))

(defun note-check (form value expected)
  (push (if (equalp value expected)
            nil
            (format nil "~S~%  is ~S~%  not ~S" form value expected))
        *found*))

(defmacro define-test (name &rest body)
  "Tests run in the order in which they are defined: those of one session build on each other."
  `(fiveam:test (,name :suite swank-mcp) (report-found (ended-by (lambda () ,@body)))))

(defun ended-by (function)
  "Call FUNCTION on a thread of its own: how it was ended before its time, or NIL."
  (let ((end "The thread of the test was ended."))
    (flet ((give-up (condition hook)
             (declare (ignore hook))
             (setf end (with-output-to-string (out)
                         (format out "~A: ~A~%" (type-of condition) condition)
                         (sb-debug:print-backtrace :stream out :count 40)))
             (sb-thread:abort-thread)))
      (sb-thread:join-thread
       (sb-thread:make-thread (lambda ()
                                (let ((*package* (find-package '#:swank-mcp))
                                      (sb-ext:*invoke-debugger-hook* #'give-up))
                                  (funcall function)
                                  (setf end nil)))
                              :name "test")
       :default nil))
    end))

(defun report-found (end)
  (dolist (failure (reverse (shiftf *found* '())))
    (if failure (fiveam:fail "~A" failure) (fiveam:pass)))
  (when end (fiveam:fail "~A" end)))

(defun run-suite ()
  "Run all tests, write what has failed and how many checks there were, and return true if
none has failed."
  (let* ((results (let ((fiveam:*test-dribble* (make-broadcast-stream)))
                    (fiveam:run 'swank-mcp)))
         (failed (remove-if (lambda (result) (typep result 'fiveam::test-passed)) results)))
    (when failed (fiveam:explain! failed))
    (format t "~&~D checks, ~D failed~%" (length results) (length failed))
    (null failed)))

;;; What many tests ask

(defun evaluated (code &rest arguments)
  (with-standard-io-syntax
    (read-from-string (with-output-to-string (*standard-output*)
                        (apply #'evaluate code :session "test" arguments)))))

(defun first-value (code)
  (first (first (getf (evaluated code) :values))))

(defun report-of (function &rest arguments)
  "The :REPORT of a job of the session \"test\"."
  (getf (with-standard-io-syntax
          (read-from-string (with-output-to-string (*standard-output*)
                              (apply function (append arguments '(:session "test"))))))
        :report))

(defun come-true-p (predicate thread)
  "True when PREDICATE has become true, for which it waits; false if THREAD, which is to make it so, has
ended without, or could have acted for ten seconds."
  (and (await-state predicate thread 10000000) t))

(defun asleep-p (thread)
  "True if THREAD is seen to wait in the system, and where that does not tell of threads."
  (let* ((number (thread-system-number thread)) (state (and number (thread-state number))))
    (and number (or (null state) (eql #\S state)))))

(defun test-file (text)
  (let ((name (format nil "/tmp/swank-mcp-test-~D.lisp" (random 1000000000 (make-random-state t)))))
    (with-open-file (out name :direction :output :external-format :utf-8)
      (write-string text out))
    name))
