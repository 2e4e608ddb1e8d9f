package session

import (
	"testing"

	"swank-mcp/e2e/harness"
)

// Every row of the tables "what persists" and "what does not" of the founding
// documents: one call makes it, a later call looks.
func TestPersistence(t *testing.T) {
	t.Parallel()
	s := harness.WithSystems(t)
	harness.Have(t, s, "alexandria", "cl-alexandria")
	wantReset(t, s)
	for _, row := range []struct{ name, make, look, text string }{
		// Definitions
		{"functions", "(defun foo (x) (* x x))", "(foo 7)", "=> 49"},
		{"functions are replaced", "(defun foo (x) (list x)) (defun foo (x) (+ x 1))", "(foo 7)", "=> 8"},
		{"macros", "(defmacro bar (x) `(list ,x ,x))", "(bar 1)", "=> (1 1)"},
		{"classes", "(defclass baz () ((a :initarg :a :reader baz-a)))", "(baz-a (make-instance 'baz :a 3))", "=> 3"},
		{"structures", "(defstruct qux (a 1) b)", "(let ((q (make-qux :b 2))) (list (qux-a q) (qux-b q) (qux-p q)))", "=> (1 2 T)"},
		{"methods", "(defmethod size ((x string)) (length x)) (defmethod size ((x integer)) (integer-length x))", "(list (size \"abc\") (size 8))", "=> (3 4)"},
		{"methods of a class", "(defclass m () ()) (defmethod print-object ((x m) s) (write-string \"<m>\" s))", "(make-instance 'm)", "=> <m>"},
		{"generic functions", "(defgeneric perimeter (shape))", "(typep #'perimeter 'generic-function)", "=> T"},

		// Variables
		{"special variables", "(defvar *x* 1)", "(incf *x*)", "=> 2"},
		{"defvar keeps the value", "(defvar *keep* 1) (setf *keep* 5)", "(progn (defvar *keep* 9) *keep*)", "=> 5"},
		{"parameters", "(defparameter *y* 10)", "*y*", "=> 10"},
		{"defparameter sets it anew", "(defparameter *again* 1) (setf *again* 5)", "(progn (defparameter *again* 9) *again*)", "=> 9"},
		{"constants", "(defconstant +z+ 3)", "(list +z+ (constantp '+z+))", "=> (3 T)"},
		{"setf'd symbols", "(setf foo-var 1)", "(list foo-var)", "=> (1)"},
		{"objects", "(defvar *table* (make-hash-table)) (setf (gethash :a *table*) 1)", "(gethash :a *table*)", "=> 1\n=> T"},
		{"closures", "(let ((n 0)) (defun tick () (incf n))) (tick)", "(tick)", "=> 2"},

		// Package state
		{"current package", "(defpackage :here (:use :cl)) (in-package :here)", "(package-name *package*)", `=> "HERE"`},
		{"current package by setf", "(defpackage :there (:use :cl)) (setf *package* (find-package :there))", "(package-name *package*)", `=> "THERE"`},
		{"created packages", "(defpackage :made (:use :cl) (:export #:a))", "(package-name (find-package :made))", `=> "MADE"`},
		{"imported symbols", "(defpackage :lib (:use :cl) (:export #:twice)) (defun lib:twice (x) (* 2 x)) (use-package :lib)", "(twice 4)", "=> 8"},
		{"symbols imported one by one", "(defpackage :lib (:use :cl) (:export #:twice)) (defun lib:twice (x) (* 2 x)) (import 'lib:twice)", "(twice 5)", "=> 10"},
		{"exports", "(defpackage :lib (:use :cl)) (export (intern \"OUT\" :lib) :lib) (defun lib:out () :out)", "(lib:out)", "=> :OUT"},
		{"definitions in a package", "(defpackage :lib (:use :cl)) (in-package :lib) (defun f () :lib)", "(cl-user::in-package :cl-user) (lib::f)", "=> :LIB"},

		// Loaded systems
		{"ASDF systems", "(asdf:load-system \"alexandria\")", "(alexandria:flatten '((1 2) (3 4)))", "=> (1 2 3 4)"},
		{"ASDF systems of our own", "(asdf:load-system \"swt-good\")", "(swt-good:answer)", "=> 42"},
		{"Quicklisp systems (fixture)", "(load \"" + harness.SystemsDir() + "/quicklisp-fixture.lisp\") (eval (read-from-string \"(ql:quickload :swt-alias)\"))",
			"(package-name (find-package :swt-alias))", `=> "SWT-ALIAS"`},

		// What does not
		{"let bindings", "(let ((local 1)) local)", "(boundp 'local)", "=> NIL"},
		{"let* bindings", "(let* ((a1 1) (b1 a1)) b1)", "(list (boundp 'a1) (boundp 'b1))", "=> (NIL NIL)"},
		{"flet bindings", "(flet ((local-f () 1)) (local-f))", "(fboundp 'local-f)", "=> NIL"},
		{"macrolet bindings", "(macrolet ((local-m () 1)) (local-m))", "(fboundp 'local-m)", "=> NIL"},
		{"symbol-macrolet bindings", "(symbol-macrolet ((local-sm 1)) local-sm)", "(boundp 'local-sm)", "=> NIL"},
		{"dynamic bindings", "(defvar *d* :global) (let ((*d* :bound)) *d*)", "*d*", "=> :GLOBAL"},
		{"dynamic bindings left by an error", "(defvar *d* :global) (let ((*d* :bound)) (error \"out\"))", "*d*", "=> :GLOBAL"},
		{"dynamic bindings of *package*", "(let ((*package* (find-package :keyword))) *package*)", "(package-name *package*)", `=> "COMMON-LISP-USER"`},
		{"dynamic bindings of *package* left by an error", "(let ((*package* (find-package :keyword))) (error \"out\"))", "(package-name *package*)", `=> "COMMON-LISP-USER"`},
		{"dynamic bindings of the printer", "(let ((*print-base* 2)) (princ-to-string 5))", "(list *print-base* 5)", "=> (10 5)"},
		{"catch tags", "(catch 'tag 1)", "(handler-case (throw 'tag 2) (control-error () :no-tag))", "=> :NO-TAG"},
		{"catch tags left by an error", "(catch 'tag (error \"out\"))", "(handler-case (throw 'tag 2) (control-error () :no-tag))", "=> :NO-TAG"},
		{"restart bindings", "(restart-case 1 (my-restart () 2))", "(find-restart 'my-restart)", "=> NIL"},
		{"restart bindings left by an error", "(restart-case (error \"out\") (my-restart () 2))", "(find-restart 'my-restart)", "=> NIL"},
		{"handler bindings of handler-case", "(handler-case (signal 'simple-condition) (condition () :handled))", "(signal 'simple-condition)", "=> NIL"},
		{"handler bindings of handler-bind", "(handler-bind ((condition (lambda (c) (declare (ignore c)) (throw 'nowhere 1)))) 1)", "(signal 'condition)", "=> NIL"},
		{"handler bindings left by an error", "(defvar *seen* 0) (handler-bind ((error (lambda (c) (declare (ignore c)) (incf *seen*)))) (error \"out\"))",
			"(progn (ignore-errors (error \"again\")) *seen*)", "=> 1"},

		// The example of "what persists"
		{"inner of outer", "(defun outer () (let ((x 10)) (defun inner () (* x 2))) (inner)) (outer)", "(list (inner) (outer) (inner))", "=> (20 20 20)"},
		{"fmakunbound clears a function", "(defun old-function ()) (fmakunbound 'old-function)", "(fboundp 'old-function)", "=> NIL"},
		{"makunbound clears a variable", "(defvar *old-var* 1) (makunbound '*old-var*)", "(boundp '*old-var*)", "=> NIL"},
	} {
		t.Run(row.name, func(t *testing.T) {
			harness.Eval(t, s, row.make)
			harness.Want(t, s, "(+ 1 2)", "=> 3")
			harness.Want(t, s, row.look, row.text)
			harness.Eval(t, s, "(cl:in-package :cl-user)")
			wantReset(t, s)
		})
	}
}

// The conversation by which the founding document explains itself.
func TestPersistenceStory(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	for _, c := range []struct{ code, text string }{
		{"(defun square (x) (* x x))", "=> SQUARE"},
		{"(square 5)", "=> 25"},
		{"(defparameter *scale* 10)", "=> *SCALE*"},
		{"(* (square 5) *scale*)", "=> 250"},
		{"(defun normalize (x) (/ x 100.0))", "=> NORMALIZE"},
		{"(defun process-score (score) (* (normalize score) 5.0))", "=> PROCESS-SCORE"},
		{"(process-score 80)", "=> 4.0"},
		{"(defun process-score (score) (let ((normalized (normalize score))) (if (< normalized 0.5) (* normalized 3.0) (* normalized 5.0))))", "=> PROCESS-SCORE"},
		{"(list (process-score 80) (< 0.89 (process-score 30) 0.91))", "=> (4.0 T)"},
		{`(defvar *data* '((name . "Alice") (age . 30) (city . "NYC")))`, "=> *DATA*"},
		{"(cdr (assoc 'name *data*))", `=> "Alice"`},
		{"(defun get-field (field data &optional default) (let ((pair (assoc field data))) (if pair (cdr pair) default)))", "=> GET-FIELD"},
		{`(list (get-field 'age *data*) (get-field 'email *data* "unknown"))`, `=> (30 "unknown")`},
		{"(defun factorial (n) (if (<= n 1) 1 (* n (factorial (1- n)))))", "=> FACTORIAL"},
		{"(factorial 5)", "=> 120"},
		{"(defun factorial (n) (if (<= n 1) 1 (* n (factorial (- n 1)))))", "=> FACTORIAL"},
		{"(factorial 6)", "=> 720"},
	} {
		harness.Want(t, s, c.code, c.text)
	}
	harness.WantList(t, s, harness.Object{"type": "functions"},
		"[Functions]\n- FACTORIAL (N)\n- GET-FIELD (FIELD DATA &OPTIONAL DEFAULT)\n- NORMALIZE (X)\n- PROCESS-SCORE (SCORE)\n- SQUARE (X)")
}
