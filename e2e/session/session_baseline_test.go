package session

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/tier"
)

// imageFacts writes what can be told of the whole image to a file, one fact a
// line. Keywords are left out: they have no owner, and no session's state.
const imageFacts = `(with-open-file (out %q :direction :output :if-exists :supersede)
  (let ((*package* (find-package :keyword)) (*print-pretty* nil) (*print-length* 50) (*print-level* 4) (*print-base* 10.) (*print-case* :upcase))
    (flet ((fact (control &rest arguments) (format out "~?~%%" control arguments))
           (names (packages) (sort (mapcar #'package-name packages) #'string<))
           (function-facts (name)
             (let ((function (fdefinition name)))
               (when (typep function 'generic-function)
                 (dolist (m (sb-mop:generic-function-methods function))
                   (format out "method ~S ~S ~S~%%" name (method-qualifiers m)
                           (mapcar (lambda (c) (if (typep c 'class) (class-name c) (type-of c)))
                                   (sb-mop:method-specializers m))))))))
      (dolist (p (remove (find-package :keyword) (list-all-packages)))
        (fact "package ~A ~A uses ~A used by ~A exports ~A" (package-name p) (package-nicknames p)
              (names (package-use-list p)) (names (package-used-by-list p))
              (let ((n 0)) (do-external-symbols (s p n) (declare (ignorable s)) (incf n))))
        (with-package-iterator (next p :internal :external)
          (loop
            (multiple-value-bind (more s) (next)
              (unless more (return))
              (fact "symbol ~A ~S~:[~; function~]~:[~; value~]~:[~; class~]~:[~; type~]~:[~; plist~]" (package-name p) s
                    (fboundp s) (boundp s) (find-class s nil) (sb-int:info :type :expander s)
                    (remove-if-not #'symbolp (symbol-plist s)))
              (when (eq (symbol-package s) p)
                (when (and (fboundp s) (not (macro-function s)) (not (special-operator-p s))) (function-facts s))
                (when (fboundp (list 'setf s)) (function-facts (list 'setf s)))
                (let ((class (find-class s nil)))
                  (when class
                    (fact "class ~S has subclasses ~S" s
                          (sort (mapcar (lambda (c) (princ-to-string (class-name c))) (sb-mop:class-direct-subclasses class))
                                #'string<)))))))))
      (fact "traced ~S" (trace))
      (fact "features ~S" *features*)
      (fact "syntax ~S" (list *print-base* *read-base* *print-case* *print-length* (readtable-case *readtable*) *read-default-float-format*))
      (fact "threads ~A" (length (sb-thread:list-all-threads))))))`

// facts are those of the image of s, sorted.
func facts(t *testing.T, s *harness.Server) []string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "facts")
	// The form is read before it is evaluated, and so always finds its own symbols.
	harness.Good(t, s, "evaluate-lisp", harness.Object{"code": fmt.Sprintf(imageFacts, file), "package": "cl-user"})
	data, err := os.ReadFile(file)
	harness.Check(t, err)
	lines := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	slices.Sort(lines)
	return lines
}

// everything a session may do that should not outlast it.
var everything = []string{
	"(defun f (x) (* x 2))", "(defmacro m (x) `(list ,x))", "(defvar *v* 1)", "(defparameter *p* 2)", "(defconstant +k+ 3)",
	"(setf loose 4)", "(let ((inner 5)) (setf from-let inner))", "(sb-ext:defglobal **g** 1)",
	"(defclass thing () ((a :accessor thing-a)))", "(defmethod print-object ((o thing) stream) (write-string \"thing\" stream))",
	"(defmethod initialize-instance :after ((o thing) &key) nil)", "(defmethod make-load-form ((o thing) &optional e) (declare (ignore e)) nil)",
	"(defgeneric area (x))", "(defmethod area ((x thing)) 1)", "(defmethod area ((x (eql 3))) 3)",
	"(defstruct node a b)", "(defmethod print-object ((n node) stream) (write-string \"node\" stream))",
	"(define-condition oops (error) ())", "(deftype octet () '(unsigned-byte 8))", "(define-symbol-macro sm 1)",
	"(defun (setf middle) (v l) (setf (second l) v))", "(defsetf third-of (l) (v) `(setf (third ,l) ,v))", "(define-compiler-macro f (x) `(* ,x 2))",
	"(defmacro deff (n) `(defun ,n () 1))", "(deff made-by-macro)", "(setf (fdefinition 'by-fdefinition) #'car)", "(setf (symbol-value (intern \"BY-SET\")) 1)",
	"(intern \"ONLY A SYMBOL\")", "'(swt-good::bare swank::bare)", "(intern \"BARE TOO\" :swt-good)", "(export (intern \"SHOWN\" :swt-good) :swt-good)",
	"(defun swt-good::own-function () 1)", "(use-package :alexandria :swt-good)", "(defmethod (setf thing-a) :before (v (o thing)) v)", "(use-package :alexandria)", "(when-let ((x 1)) x)",
	"(trace f)", "(defpackage :mine (:use :cl :alexandria) (:export #:shown))", "(defun mine:shown () 1)", "(defvar mine::*hidden* 1)", "(defconstant mine::+c+ 1)",
	"(defclass mine::c (thing) ())", "(defmethod print-object ((o mine::c) s) (write-string \"c\" s))",
	"(make-package \"MADE\" :use '(:mine))", "(defpackage :locked (:use :cl)) (sb-ext:lock-package :locked)", "(import 'mine::*hidden*)", "(use-package :mine)", "(export 'f)",
	"(setf *print-base* 2 *print-case* :downcase *read-default-float-format* 'double-float)", "(setf *readtable* (copy-readtable))", "(set-macro-character #\\! (lambda (s c) (declare (ignore s c)) :bang))",
	"(in-package :mine)", "(defun inside () 1)",
}

// After a reset the image is as it was before the session: the facts are
// compared, of every package, symbol, generic function and class.
func TestResetLeavesNothing(t *testing.T) {
	tier.More(t)
	t.Parallel()
	s := harness.WithSystems(t)
	harness.Have(t, s, "alexandria", "cl-alexandria")
	harness.Load(t, s, "swt-good")
	facts(t, s)
	wantReset(t, s)
	before := facts(t, s)
	if len(before) < 10_000 {
		t.Fatalf("only %d facts", len(before))
	}
	for round := range 2 {
		for _, code := range everything {
			harness.WantRuns(t, s, code)
		}
		if round == 0 { // the comparison sees what there is to see
			if left := differences(before, facts(t, s)); len(left) < 60 {
				t.Errorf("with the whole session there, only this is new:\n%s", strings.Join(left, "\n"))
			}
		}
		wantReset(t, s)
		harness.Want(t, s, "(list * ** *** / // /// + ++ +++ -)",
			"=> (NIL NIL NIL NIL NIL NIL NIL NIL NIL (LIST * ** *** / // /// + ++ +++ -))")
		harness.Want(t, s, "(package-name *package*)", `=> "COMMON-LISP-USER"`)
		harness.WantList(t, s, harness.Object{}, "[Loaded Systems]\n- ALEXANDRIA\n- SWT-GOOD")
		if left := differences(before, facts(t, s)); len(left) > 0 {
			t.Errorf("round %d: the image is not as before:\n%s", round, strings.Join(left, "\n"))
		}
		harness.Want(t, s, "(alexandria:flatten '((1 2) (3 4)))", "=> (1 2 3 4)")
		harness.Want(t, s, "(list 10 1.5 '!)", "=> (10 1.5 !)")
	}
}

// differences are the lines of only one of two sorted lists.
func differences(before, after []string) []string {
	count := map[string]int{}
	for _, l := range before {
		count[l]--
	}
	for _, l := range after {
		count[l]++
	}
	var diff []string
	for l, n := range count {
		switch {
		case n > 0:
			diff = append(diff, "left: "+l)
		case n < 0:
			diff = append(diff, "lost: "+l)
		}
	}
	slices.Sort(diff)
	return diff
}
