package truth

import (
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/e2e/model"
	"swank-mcp/internal/tier"
)

// Definitions come back whichever way they were made. One whose source is not known is
// named as lost.
func TestTruthOfWays(t *testing.T) {
	t.Parallel()
	rowsHold(t, tier.Tries(t, 2, 1), []truthRow{
		// packages, with what is defined in them
		{name: "EVAL-WHEN makes a package", make: []any{"(eval-when (:compile-toplevel :load-toplevel :execute) (defpackage :pa (:use :cl)))", "(defun pa::fa () 1)"}, look: "(pa::fa)", want: "1", saved: true},
		{name: "UNLESS makes a package", make: []any{`(unless (find-package "PA") (make-package "PA" :use '("CL")))`, "(defun pa::fa () 1)"}, look: "(pa::fa)", want: "1", saved: true},
		{name: "UNLESS with DEFPACKAGE", make: []any{"(unless (find-package :pa) (defpackage :pa (:use :cl)))", "(in-package :pa)", "(defun fa () 1)", "(in-package :cl-user)"}, look: "(pa::fa)", want: "1", saved: true},
		{name: "UIOP makes a package", make: []any{"(require :asdf)", "(uiop:define-package :pa (:use :cl))", "(defun pa::fa () 1)"}, look: "(pa::fa)", want: "1", saved: true},
		{name: "LET makes a package", make: []any{`(let ((name "PA")) (make-package name :use '(:cl)))`, "(defun pa::fa () 1)"}, look: "(pa::fa)", want: "1", saved: true},
		{name: "a macro makes a package", make: []any{"(defmacro defpkg (name) `(defpackage ,name (:use :cl)))", "(defpkg :pa)", "(defun pa::fa () 1)"}, look: "(pa::fa)", want: "1", saved: true},
		{name: "a function makes a package", make: []any{"(defun mkpkg (name) (make-package name :use '(:cl)))", `(mkpkg "PA")`, "(defun pa::fa () 1)"}, look: "(pa::fa)", want: "1", saved: true},
		{name: "local nicknames", make: []any{"(defpackage :pa (:use :cl))", "(defun pa::fa () 1)", "(defpackage :pb (:use :cl))", "(sb-ext:add-package-local-nickname :short :pa :pb)",
			"(in-package :pb)", "(defun fb () (short::fa))", "(in-package :cl-user)"}, look: `(list (pb::fb) (not (null (assoc "SHORT" (sb-ext:package-local-nicknames :pb) :test #'string=))))`, want: "(1 T)", saved: true},
		{name: "package locks", make: []any{"(defpackage :pa (:use :cl))", "(defun pa::fa () 1)", "(sb-ext:lock-package :pa)"}, look: "(list (pa::fa) (sb-ext:package-locked-p :pa))", want: "(1 T)", saved: true},

		// other operators
		{name: "DEFINE-METHOD-COMBINATION", make: []any{"(define-method-combination mca :operator +)", "(defgeneric fa (x) (:method-combination mca) (:method mca (x) x) (:method mca ((x integer)) 1))"}, look: "(fa 2)", want: "3", saved: true},
		{name: "DEFINE-COMPILER-MACRO", make: []any{"(defun fa () 1)", "(define-compiler-macro fa () 2)"}, look: "(list (funcall 'fa) (funcall (compiler-macro-function 'fa) '(fa) nil))", want: "(1 2)", saved: true},
		{name: "(SETF COMPILER-MACRO-FUNCTION)", make: []any{"(setf (compiler-macro-function 'fa) (lambda (form environment) (declare (ignore form environment)) 2))"},
			look: "(funcall (compiler-macro-function 'fa) '(fa) nil)", want: "2", saved: true},
		{name: "(SETF FDEFINITION)", make: []any{"(setf (fdefinition 'fa) (lambda () 1))"}, look: "(fa)", want: "1", saved: true},
		{name: "(SETF FDEFINITION) over a DEFUN", make: []any{"(defun fa () 9)", "(setf (fdefinition 'fa) (lambda () 1))"}, look: "(fa)", want: "1", saved: true},
		{name: "(SETF FDEFINITION) of a closure", make: []any{"(defun fa () 9)", "(setf (fdefinition 'fa) (constantly 1))"}, look: "(fa)", want: "1", lost: "fa", saved: true},
		{name: "(SETF SYMBOL-FUNCTION)", make: []any{"(setf (symbol-function 'fa) (lambda () 1))"}, look: "(fa)", want: "1", saved: true},
		{name: "(SETF MACRO-FUNCTION)", make: []any{"(setf (macro-function 'fa) (lambda (form environment) (declare (ignore form environment)) 1))"}, look: "(fa)", want: "1", saved: true},
		{name: "(SETF FIND-CLASS)", make: []any{"(defclass ca () ((s :initform 1)))", "(setf (find-class 'cb) (find-class 'ca))"}, look: "(slot-value (make-instance 'cb) 's)", want: "1", lost: "cb", saved: true},
		{name: "DEFINE-LOAD-TIME-GLOBAL", make: []any{"(sb-ext:define-load-time-global **ga** 1)"}, look: "**ga**", want: "1", saved: true},
		{name: "DEFINE-HASH-TABLE-TEST", make: []any{"(defun same (a b) (= a b))", "(defun code (a) (sxhash (round a)))", "(sb-ext:define-hash-table-test same code)"},
			look: "(let ((h (make-hash-table :test 'same))) (setf (gethash 1 h) 5) (gethash 1.0 h))", want: "5", saved: true},
		{name: "alien types", make: []any{"(sb-alien:define-alien-type aty (sb-alien:struct nil (x sb-alien:int)))"}, look: "(sb-alien:with-alien ((v aty)) (setf (sb-alien:slot v 'x) 4) (sb-alien:slot v 'x))", want: "4", saved: true},
		{name: "alien variables", make: []any{`(sb-alien:define-alien-variable ("stderr" ava) sb-alien:unsigned-long)`}, look: "(plusp ava)", want: "T", saved: true},

		// forms that end abnormally
		{name: "an error behind a DEFUN", make: []any{`(progn (defun fa () 1) (error "x") (defun fb () 2))`}, look: "(list (fa) (fboundp 'fb))", want: "(1 NIL)", saved: true},
		{name: "an error behind a redefinition", make: []any{"(defun fa () 9)", `(progn (defun fa () 1) (error "x"))`}, look: "(fa)", want: "1", saved: true},
		{name: "a timeout behind a DEFUN", make: []any{model.Tool("evaluate-lisp", harness.Object{"code": "(progn (defun fa () 1) (loop (sleep 0.01)))", "timeout": 2})}, look: "(fa)", want: "1", saved: true},
		{name: "suspended and aborted", make: []any{model.Tool("evaluate-lisp", harness.Object{"code": `(progn (defun fa () 1) (error "x") (defun fb () 2))`, "on-error": "debug"}), model.Tool("abort-evaluation", harness.Object{"evaluation": 1})},
			look: "(list (fa) (fboundp 'fb))", want: "(1 NIL)", saved: true},
		{name: "suspended when the image dies", make: []any{model.Tool("evaluate-lisp", harness.Object{"code": `(progn (defun fa () 1) (error "x"))`, "on-error": "debug"})}, look: "(fa)", want: "1"},
		{name: "suspended and continued", make: []any{model.Tool("evaluate-lisp", harness.Object{"code": `(progn (defun fa () 1) (cerror "Go on." "x") (defun fb () 2))`, "on-error": "debug"}),
			model.Tool("invoke-restart", harness.Object{"evaluation": 1, "restart": "CONTINUE"})}, look: "(list (fa) (fb))", want: "(1 2)", saved: true},
		{name: "defined in the debugger", make: []any{"(defun bad () (error \"x\"))", model.Tool("evaluate-lisp", harness.Object{"code": "(bad)", "on-error": "debug"}),
			model.Tool("evaluate-in-frame", harness.Object{"evaluation": 1, "frame": 0, "code": "(defun fa () 1)"}), model.Tool("abort-evaluation", harness.Object{"evaluation": 1})}, look: "(fa)", want: "1", saved: true},

		// other tools
		{name: "inspect-object", make: []any{model.Tool("inspect-object", harness.Object{"code": "(progn (defun fa () 1) (list 1))"})}, look: "(fa)", want: "1", saved: true},
		{name: "profile-code", make: []any{model.Tool("profile-code", harness.Object{"code": "(defun fa () 1)"})}, look: "(fa)", want: "1", saved: true},
		{name: "trace-function", make: []any{"(defun fb () 2)", model.Tool("trace-function", harness.Object{"functions": "fb", "code": "(progn (fb) (defun fa () 1))"})}, look: "(list (fa) (fb))", want: "(1 2)", saved: true},
		{name: "LOAD in an evaluation", make: []any{model.File("f.lisp", "(defun fa () 1)\n(defmacro ma () 2)"), `(load "f.lisp")`}, look: "(list (fa) (ma))", want: "(1 2)", saved: true},
		{name: "LOAD of a fasl", make: []any{model.File("f.lisp", "(defun fa () 1)"), `(load (compile-file "f.lisp"))`}, look: "(fa)", want: "1", lost: "fa", saved: true},
		{name: "a thread", make: []any{"(sb-thread:join-thread (sb-thread:make-thread (lambda () (defun fa () 1))))"}, look: "(fa)", want: "1", saved: true},
		{name: "a closure in a thread", make: []any{"(let ((n 1)) (sb-thread:join-thread (sb-thread:make-thread (lambda () (defun fa () n)))))"}, look: "(fa)", want: "1", lost: "fa", saved: true},
		{name: "EVAL", make: []any{"(let ((n 1)) (eval `(defun fa () ,n)))"}, look: "(fa)", want: "1", saved: true},
		{name: "a closure of a function's", make: []any{"(defun make-fa (n) (defun fa () n))", "(make-fa 1)"}, look: "(fa)", want: "1", lost: "fa", saved: true},
	})
}
