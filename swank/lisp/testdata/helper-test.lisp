;;;; helper-test.lisp -- the helper's parts, each on its own, without a bridge.
;;;; Loaded by TestHelperOnItsOwn after Swank and the helper; prints one line a
;;;; failure and, at the end, how many checks there were.

(cl:in-package #:swank-mcp)

(defvar *checks* 0)
(defvar *failures* 0)

(defmacro check (form expected)
  "FORM evaluates to something EQUALP to EXPECTED."
  `(let ((value ,form) (expected ,expected))
     (incf *checks*)
     (unless (equalp value expected)
       (incf *failures*)
       (format t "FAILED ~S~%  is ~S~%  not ~S~%" ',form value expected))))

;;; wire.lisp

(defun wire (datum) (with-output-to-string (*standard-output*) (answer datum)))

(check (wire '(:a 1 "b" nil t (-20 "c"))) "(:a 1 \"b\" nil t (-20 \"c\"))")
(check (wire "q\"b\\s") "\"q\\\"b\\\\s\"")
(let ((*print-base* 16) (*print-length* 1) (*print-level* 0) (*print-case* :capitalize)
      (*print-readably* t) (*print-circle* t) (*print-pretty* t))
  (check (wire '(:key 255 "x" "y")) "(:key 255 \"x\" \"y\")"))
(check (read-from-string (wire (list (make-string 70000 :initial-element #\"))))
       (list (make-string 70000 :initial-element #\")))

(check (wire (coerce (list #\a (code-char #xD800) #\b) 'string)) "\"a\\\\u{D800}b\"")

;;; sink.lisp

(defun filled-sink (keep &rest strings)
  (let ((sink (make-sink keep)))
    (dolist (string strings sink) (write-string string sink))))

(check (sink-text (make-sink 10)) nil)
(check (sink-text (filled-sink 10 "abc" "def")) '("abcdef"))
(check (sink-text (filled-sink 4 "abcd")) '("abcd"))
(check (sink-text (filled-sink 4 "abcdef")) '("abcd" "ef" 0))
(check (sink-text (filled-sink 4 "abc" "defgh" "ijklm")) '("abcd" "jklm" 5))
(check (sink-text (filled-sink 4 (make-string 100 :initial-element #\x) "yz")) '("xxxx" "xxyz" 94))
(check (multiple-value-list (sink-since (filled-sink 10 "abcdef") 2 100)) '("cdef" 6))
(check (multiple-value-list (sink-since (filled-sink 10 "abcdef") 0 3)) '("def" 6))
(check (multiple-value-list (sink-since (filled-sink 4 "abcdefghijkl") 6 100)) '("ijkl" 12))
(check (multiple-value-list (sink-since (filled-sink 4 "abc") 3 100)) '("" 3))
(check (sink-text (let ((sink (make-sink 100)))
                    (format sink "~&a~&~%b~10Tc~%")
                    (fresh-line sink)
                    sink))
       (list (format nil "a~%~%b         c~%")))
(check (let ((sink (filled-sink 10 "in time")) (*late-output* (make-string-output-stream)))
         (close-sink sink)
         (write-string "too late" sink)
         (list (first (sink-text sink)) (get-output-stream-string *late-output*)))
       '("in time" "too late"))
;; against a plain model, every split of a text of 12 over a sink of 5
(dotimes (mask 2048)
  (let* ((text "abcdefghijkl") (sink (make-sink 5)) (start 0))
    (loop for i from 1 to 12
          when (or (= i 12) (logbitp (1- i) mask))
            do (write-string text sink :start start :end i)
               (setf start i))
    (unless (equal (sink-text sink) '("abcde" "hijkl" 2))
      (incf *failures*)
      (format t "FAILED split ~B: ~S~%" mask (sink-text sink)))))
(incf *checks* 2048)

;;; conditions.lisp

(defpackage #:helper-test.a (:use) (:export #:known))
(check (name-label 'car) "CAR")
(check (name-label 'cl-user::foo) "FOO")
(check (name-label 'helper-test.a:known) "HELPER-TEST.A:KNOWN")
(check (name-label (intern "HIDDEN" '#:helper-test.a)) "HELPER-TEST.A::HIDDEN")
(check (type-label (make-condition 'sb-int:simple-reader-error)) "READER-ERROR")
(check (type-label (make-condition 'sb-kernel::heap-exhausted-error)) "STORAGE-CONDITION")
(check (type-label (make-condition 'division-by-zero)) "DIVISION-BY-ZERO")
(check (multiple-value-list (line-and-column (format nil "ab~%cd") 0)) '(1 1))
(check (multiple-value-list (line-and-column (format nil "ab~%cd") 4)) '(2 2))
(check (multiple-value-list (line-and-column "ab" 99)) '(1 3))
(check (next-form-position (format nil "  ; note~%  (a)") 0) 11)
(check (call-safely (lambda () "fine")) "fine")
(check (call-safely (lambda () (error "bad"))) "#<printing it failed: SIMPLE-ERROR: bad>")
(check (call-safely (lambda () (break))) "#<printing it failed: SIMPLE-CONDITION: break>")

;;; frames.lisp

(defclass never-printed () ())
(defmethod print-object ((object never-printed) stream)
  (declare (ignore stream))
  (error "a backtrace must not come here"))
(defun shown (object) (show-form object (find-package '#:swank-mcp)))
(check (shown '(f 1 "a" #\b 2.5 nil)) "(F 1 \"a\" #\\b 2.5 NIL)")
(check (shown ''(a . b)) "'(A . B)")
(check (shown '(1 2 3 4 5 6 7 8 9 10 11)) "(1 2 3 4 5 6 7 8 9 10 ...)")
(check (shown '((((((deep))))))) "((((#))))")
(check (shown (make-instance 'never-printed)) "#<NEVER-PRINTED>")
(check (shown (list 'f (vector 1 2))) "(F #<VECTOR 2>)")
(check (shown (let ((l (list 1))) (setf (cdr l) l))) "(1 1 1 1 1 1 1 1 1 1 ...)")
(check (public-name 'sb-kernel:two-arg-+) '+)
(check (public-name '(sb-pcl::fast-method f (t))) '(method f (t)))

;;; session.lisp

(check (edit-distance "kitten" "sitting") 3)
(check (edit-distance "" "abc") 3)
(check (similar-package-names "cl-usr") '("COMMON-LISP-USER"))
(check (similar-package-names "zzzzqqqq") '())
(check (find-package-named "cl-user") (find-package "COMMON-LISP-USER"))

;;; evaluate.lisp: nothing of the image is changed by what a session assigns

(defun evaluated (code &rest arguments)
  (with-standard-io-syntax
    (read-from-string (with-output-to-string (*standard-output*)
                        (apply #'evaluate code :session "test" arguments)))))
(defun first-value (code)
  (first (first (getf (evaluated code) :values))))

(load (merge-pathnames "foreign-test.lisp" *load-truename*))

(let ((before (list *print-base* *readtable* (readtable-case *readtable*) *package*)))
  (check (first-value "(setf *print-base* 16 *read-base* 8)") "8")
  (check (first-value "(+ 17 1)") "10")          ; octal 17 + 1, printed in base 16
  (check (first-value "(setf *read-base* 12 *print-base* 10)") "10") ; both were octal: 10 and 8
  (evaluated "(set-macro-character #\\! (lambda (s c) (declare (ignore s c)) :bang))")
  (check (first-value "!") ":BANG")
  (check (first-value "(setf (readtable-case *readtable*) :preserve)") ":PRESERVE")
  (check (first-value "(quote abc)") "ABC")
  (check (list *print-base* *readtable* (readtable-case *readtable*) *package*) before)
  (check (get-macro-character #\!) nil))

;; a condition without its standard slots is reported as itself
(check (getf (getf (evaluated "(error 'end-of-file)") :error) :type) "END-OF-FILE")
(check (getf (getf (evaluated "(error 'undefined-function)") :error) :type) "UNDEFINED-FUNCTION")
(check (first-value "(setf *read-suppress* t)") "T")
(check (first-value "(+ 1 2)") "3")
(check (getf (getf (evaluated "(unwind-protect (sb-ext:exit) (error \"x\"))") :error) :type)
       "SIMPLE-ERROR")
(check (list sb-sys:*exit-in-progress* (sb-thread:mutex-owner sb-impl::*exit-lock*)) '(nil nil))
(check (length (getf (evaluated "(dotimes (i 5000) (warn \"w~d\" i))") :warnings)) 201)
(check (getf (evaluated "(signal 'warning)") :warnings) nil)
(evaluated "(defmethod print-object :around ((o structure-object) s) (write-string \"<<\" s) (call-next-method))")
(check (first-value "(+ 1 2)") "3")

(load (merge-pathnames "look-test.lisp" *load-truename*))
(load (merge-pathnames "debugger-test.lisp" *load-truename*))
(load (merge-pathnames "build-test.lisp" *load-truename*))
(load (merge-pathnames "interrupts-test.lisp" *load-truename*))
(load (merge-pathnames "hostile-test.lisp" *load-truename*))

;;; inspect.lisp, views.lisp

(check (list (multiple-value-list (list-shape '(1 2 3))) (multiple-value-list (list-shape '(1)))
             (multiple-value-list (list-shape '(1 2 . 3))) (multiple-value-list (list-shape '(1 . 2))))
       '((3 nil) (1 nil) (2 3) (1 2)))
;; circles of every size, after stems of every length
(check (loop for stem from 0 below 6
             nconc (loop for size from 1 below 7
                         for circle = (make-list size)
                         do (setf (cdr (last circle)) circle)
                         unless (equal (multiple-value-list (list-shape (append (make-list stem) circle)))
                                       (list (+ stem size) :circular))
                           collect (list stem size)))
       '())
(check (mapcar #'path-steps '("" "2" "0.name.3k" " .a..b. ")) '(() ("2") ("0" "name" "3k") ("a" "" "b")))
(check (mapcar #'designated-handle '(7 "7" "obj-7" " OBJ-12 " "foo" "obj-" "" "obj-1x")) '(7 7 7 12 nil nil nil nil))
(let ((table (make-hash-table :test 'equal)) (session (ensure-session "inspect test")))
  (setf (gethash "key" table) (vector 1 (list 2 3)))
  (let ((handle (remember-object table session "table")))
    (check (list (object handle "key.1.0") (object (handle-text handle) "0.1") (object handle "0k")) '(2 (2 3) "key"))
    (setf (object handle "key.0") :new)
    (check (aref (gethash "key" table) 0) :new)
    (check (loop for path in '("1" "key.2" "key.1.0.0" "nokey" "0kk")
                 collect (handler-case (object handle path)
                           (lookup-failure (failure) (failure-type failure))))
           '("NO-SUCH-PART" "NO-SUCH-PART" "NO-SUCH-PART" "NO-SUCH-PART" "NO-SUCH-PART"))
    (forget-handles session)
    (check (handler-case (object handle) (lookup-failure (failure) (failure-type failure))) "UNKNOWN-HANDLE")))
;; handles hold few objects, and there are not many of them
(let ((session (ensure-session "inspect test")))
  (dotimes (i 500) (remember-object (list i) session "(list i)"))
  (check (list (length *handles*) (count-if #'handle-object *handles*)) (list *max-handles* *held*))
  (forget-handles session)
  (check *handles* '()))
;; every kind of object has a view, and every part of it one line
(dolist (object (list 1 -5 (expt 10 500) 1/2 1.5 sb-ext:double-float-positive-infinity #c(1 2) #\a "text" (make-string 5000)
                      nil t 'car :key (gensym) '(1 2) '(1 . 2) #(1 2) #2A((1 2) (3 4)) #0A1 #*101
                      (make-array 3 :fill-pointer 1 :adjustable t) (make-hash-table) #'car #'print-object #'evaluate
                      (let ((x 1)) (lambda () (incf x))) (find-class 'session) (find-class 'integer) (find-class 'standard-object)
                      *package* #p"/tmp/x" *standard-output* (ensure-session "inspect test") (make-condition 'end-of-file)
                      *readtable* *random-state* sb-thread:*current-thread* (sb-ext:make-weak-pointer '(1))
                      (find-method #'print-object '() (list (find-class 't) (find-class 't)) nil)))
  (check (handler-case (let ((finding (inspection object 1 "" 0 40)))
                         (find #\newline (getf finding :title)))
           (error (condition) (princ-to-string condition)))
         nil))

;;; forgive.lisp

(defun forgiving ()
  (with-open-file (in (merge-pathnames "../helper/forgive.lisp" *load-truename*))
    (eval (read in))))
(defun unwritable-stream ()
  "A stream that holds what cannot be written."
  (let ((stream (open "/dev/full" :direction :output :if-exists :overwrite)))
    (write-string "held" stream)
    stream))
(flet ((outcome (stream)
         (list (handler-case (finish-output stream) (stream-error () :failed))
               (handler-case (close stream) (stream-error () :failed))
               (open-stream-p stream))))
  (check (outcome (unwritable-stream)) '(:failed :failed t)) ; what Swank does not expect
  (let ((stream (unwritable-stream)))
    (funcall (forgiving) stream)
    (check (outcome stream) '(:failed t nil))))

;;; tracing.lisp

(check (split-names " foo, (setf bar)  p::|a b|,baz ") '("foo" "(setf bar)" "p::|a b|" "baz"))
(defun traced-one (x) (1+ x))
(let ((calls '()))
  (call-with-wrapped '(traced-one)
                     (lambda (name function arguments)
                       (push (cons name arguments) calls)
                       (check (null (sb-impl::encapsulation-info (symbol-function name))) nil)
                       (apply function arguments))
                     (lambda () (funcall 'traced-one 1)))
  (check calls '((traced-one 1)))
  (check (ignore-errors (call-with-wrapped '(traced-one) #'list (lambda () (error "out")))) nil)
  (check (sb-impl::encapsulation-info (symbol-function 'traced-one)) nil))

;;; profiling.lisp

(check (fields "   1      7  41.2   a b c" 3) '("1" "7" "41.2" "a b c"))
(check (fields "  x" 3) '("x" "" "" ""))
(check (mapcar #'without-prefixes '("COMMON-LISP-USER::FOO" "(COMMON-LISP:LAMBDA (P::X) :IN COMMON-LISP-USER::F)"
                                    "\"the form\" in #<code id=1>"))
       '("FOO" "(LAMBDA (P::X) :IN F)" "the form"))
(check (multiple-value-list
        (report-rows (format nil "~%Number of samples:   17~%Sample interval: 0.01~%~%           Self        Total        Cumul~%  ~
                                  Nr  Count     %  Count     %  Count     %    Calls  Function~%---~%   ~
                                  1      7  41.2     24 141.2      7  41.2        -  P::FIB~%   ~
                                  2      4  23.5      4  23.5     11  64.7        -  (FLET A :IN B)~%---~%          ~
                                  6   5.9                                     elsewhere~%")))
       '(17 (("P::FIB" 7 24) ("(FLET A :IN B)" 4 4) ("elsewhere" 6 0))))
(check (significant-rows '(("SWANK-MCP::X" 1 9) ("SB-A::B" 0 9) ("SB-A::C" 2 9) ("F" 3 40) ("elsewhere" 0 0) ("G" 3 3)) 20 3)
       '(("F" 3 20) ("G" 3 3) ("SB-A::C" 2 9)))
(let* ((tally (make-tally :name 'f)))
  (let ((*callees-time* 0))
    (tally-call tally (lambda () (tally-call tally (lambda () (sleep 0.05)) '()) (sleep 0.02)) '()))
  (check (list (tally-calls tally) (tally-depth tally)
               (< 60000 (tally-total tally)) (<= (abs (- (tally-total tally) (tally-self tally))) 1000))
         '(2 0 t t)))

;;; memory.lisp, threadlist.lisp

(check (multiple-value-bind (kinds generations bytes end) (walk-heap 60)
         (list (plusp (car (gethash 'cons kinds))) (= bytes (reduce #'+ generations))
               end (< 1/2 (/ bytes (heap-used)) 2)))
       '(t t nil t))
(check (nth-value 3 (walk-heap 0)) :time)
(let ((thread (sb-thread:make-thread (lambda () (sleep 100)) :name "to be ended")))
  (check (list (thread-role thread) (eq thread (find-thread-named "To Be Ended"))
               (eq thread (find-thread-named (format nil "~D" (thread-number thread)))))
         '(:user t t))
  (check (end-thread thread) "It was ended; its cleanup forms have run.")
  (check (handler-case (find-thread-named "to be ended") (lookup-failure (failure) (failure-type failure)))
         "UNKNOWN-THREAD"))
(check (thread-role (sb-thread:main-thread)) :main)

(format t "~D checks, ~D failed~%" *checks* *failures*)
