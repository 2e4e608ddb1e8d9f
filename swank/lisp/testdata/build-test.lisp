;;;; build-test.lisp -- expansions, compiler notes and their places, files;
;;;; loaded by helper-test.lisp

(cl:in-package #:swank-mcp)

(defun report-of (function &rest arguments)
  "The :REPORT of a job of the session \"test\"."
  (getf (with-standard-io-syntax
          (read-from-string (with-output-to-string (*standard-output*)
                              (apply function (append arguments '(:session "test"))))))
        :report))

(defun test-file (text)
  (let ((name (format nil "/tmp/swank-mcp-test-~D.lisp" (random 1000000000 (make-random-state t)))))
    (with-open-file (out name :direction :output :external-format :utf-8)
      (write-string text out))
    name))

;;; expand.lisp

(check (report-of #'expand "(second x)" :one) '(:expansion ("(SECOND X)") :why "SECOND is a function."))
(check (report-of #'expand "(list (macrolet-none) (return))" :all)
       '(:expansion ("(LIST (MACROLET-NONE) (RETURN-FROM NIL NIL))") :why ""))
(check (report-of #'expand "(car x)" :full)
       '(:expansion ("(CAR X)") :why "CAR is a function."))
(check (length (getf (report-of #'expand "(list (when x y) (unless x y))" :steps) :steps)) 2)
;; LOOP's own macros are no steps of the user's
(check (length (getf (report-of #'expand "(loop for x in y when x collect x)" :steps) :steps)) 2)
(check (getf (evaluated "(boundp 'never-defined)") :values) '(("NIL")))

;;; notes.lisp

(defun source-at (text) (make-source text))
(check (coerce (form-starts (source-at (format nil "; a~%(b) ~%#| c |# (d)~%#+nope (e) :f"))) 'list)
       '(4 9 21))
(check (source-line (source-at (format nil "a~%b~C~%c" #\return)) 2) "b")
(check (source-line (source-at "a") 3) "")
(check (subform-position (source-at "(a) (b (c d) (e (f)))") '(1 2 1)) 16)
(check (subform-position (source-at "(a) (b \"é\" #.(error \"read\") (f))") '(1 3)) 28)
(check (subform-position (source-at "(a) (b") '(7 2)) nil)
(check (number-after "line: " "in form at Line: 12, column: 0") 12)

(defun noted (text &rest arguments)
  "(SEVERITY LINE COLUMN) of the notes about TEXT, and whether it was loaded."
  (let ((report (apply #'report-of #'compile-source :text text arguments)))
    (list (loop for (severity nil line column) in (getf report :notes)
                collect (list severity line column))
          (getf report :loaded))))

(check (noted "(defun build-test-1 (x) x)") '(() t))
(check (noted (format nil "(defun build-test-2 (x)~%  (build-test-none x))"))
       '((("style-warning" 2 3)) t))
(check (noted (format nil "~%(defun build-test-3 (x)~%  (let ((y 1 2)) x y))"))
       '((("error" 3 9) ("style-warning" 2 1)) nil))
(check (noted (format nil "(car ())~% (list 'a")) '((("error" 2 2)) nil))
(check (noted "(list #<a>)") '((("error" 1 9)) nil))
(check (noted "(defun build-test-4 () 1)" :load nil) '(() nil))
(check (list (fboundp 'cl-user::build-test-1) (fboundp 'cl-user::build-test-4))
       (list (fdefinition 'cl-user::build-test-1) nil))

;;; recording.lisp

(defun own-names ()
  (let ((session (ensure-session "test")))
    (loop for (nil . name) in (own-definitions session)
          when (and (symbolp name) (search "BUILD-TEST" (symbol-name name)))
            collect (symbol-name name))))
(check (own-names) '("BUILD-TEST-1" "BUILD-TEST-2"))

(let ((file (test-file "(defmacro build-test-m () `(list ,1)) (let ((n 0)) (defun build-test-closure () (incf n)))
(eval-when (:compile-toplevel :load-toplevel :execute) (defvar build-test-v '(a . b)))
(format nil \"an effect\") (declaim (inline build-test-f)) (defun build-test-f () (build-test-m))"))
      (all '("BUILD-TEST-1" "BUILD-TEST-2" "BUILD-TEST-M" "BUILD-TEST-CLOSURE" "BUILD-TEST-V"
             "BUILD-TEST-F")))
  (flet ((journal (function &rest arguments)
           (mapcar #'second
                   (getf (with-standard-io-syntax
                           (read-from-string
                            (with-output-to-string (*standard-output*)
                              (apply function (append arguments '(:session "test"))))))
                         :journal))))
    (let ((loaded (journal #'load-source file)))
      (check (own-names) all)
      (check (length loaded) 5)         ; without the call of FORMAT
      (check (second loaded) (format nil "(LET ((N 0))~%  (DEFUN BUILD-TEST-CLOSURE () (INCF N)))"))
      ;; DEFVAR leaves the variable alone: what gave it its value is kept
      (check (journal #'compile-source :file file) (remove (third loaded) loaded))
      (check (sort (own-names) #'string<) (sort (copy-list all) #'string<))
      ;; without loading only what the compiler itself defines is another one
      (check (journal #'compile-source :file file :load nil) (list (first loaded)))))
  (delete-file file))
(check (getf (getf (with-standard-io-syntax
                     (read-from-string (with-output-to-string (*standard-output*)
                                         (load-source "/nowhere/at all" :session "test"))))
                   :error)
             :type)
       "FILE-ERROR")

;;; disassemble.lisp

(check (lines-of (format nil "a  ~%~%b")) '("a" "b"))

;;; tests.lisp

(flet ((place (text) (test-position (format nil text) "ODD")))
  (check (place "(a) (test odd 1)") 4)
  (check (place "(fiveam:def-test odd () 1)") 0)
  (check (place "; odd~%(deftest (odd :x 1) 1)") 6)
  (check (place "(define-test \"odd\" 1)") 0)
  (check (place "(define-test 'odd 1)") 0)
  (check (place "(test~%  odd~%  1)") 0)
  (check (place "(test oddity 1) (list test odd) (untest-it odd) (test) odd") nil)
  (check (place "test odd") nil)
  (check (place "(estodd)") nil))
(check (run-for-wire (let ((run (make-test-run)))
                       (run-record run "F" "A" :passed nil nil nil)
                       (run-record run "F" "A" :failed "form" nil nil)
                       run))
       '(:frameworks ("F") :tests 1 :passed 1 :failed 1 :errors 0 :skipped 0
         :failures (("A" "failed" "form" "" "" nil))))
(check (call-recording-results (make-test-run) (lambda () :value)) :value)
