package truth

import (
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/e2e/model"
	"swank-mcp/internal/tier"
)

// What defines a name is the form that made the definition, not one that was
// only expanded, and not one that has failed; and what comes back does so in an
// order in which it can.
func TestTruthOfOrder(t *testing.T) {
	t.Parallel()
	load := func(name, text string) []any {
		return []any{model.File(name, text), model.Tool("load-file", harness.Object{"path": name})}
	}
	row := func(name string, look, want string, steps ...any) truthRow {
		var flat []any
		for _, s := range steps {
			if several, ok := s.([]any); ok {
				flat = append(flat, several...)
			} else {
				flat = append(flat, s)
			}
		}
		return truthRow{name: name, make: flat, look: look, want: want, saved: true}
	}
	rowsHold(t, tier.Tries(t, 2, 1), []truthRow{
		row("a file defines what was expanded before", "(mini::fa)", "13",
			model.Mini("a", "(defun fa () 11)"), model.LoadMini, "(macroexpand-1 '(defun mini::fa () 99))", model.Mini("a", "(defun fa () 13)"), model.LoadMini),
		row("a file defines what a function would have", "(mini::fa)", "13",
			model.Mini("a", "(defun fa () 11)"), model.LoadMini, "(defun install () (defun mini::fa () :patched))", model.Mini("a", "(defun fa () 13)"), model.LoadMini),
		row("a file defines what had failed", "(list (mini::fa) (mini::g (make-instance 'mini::c)))", "(12 :NEW)",
			model.Mini("a", "(defun fb () 11)"), model.LoadMini, "(defmethod mini::g ((x mini::c)) :old)", "(defun mini::fa (x x) :bad)",
			model.Mini("a", "(defclass c () ()) (defmethod g ((x c)) :new) (defun fa () 12)"), model.LoadMini),
		row("a variable of a system that was given another value", "mini::*v*", "9",
			model.Mini("a", "(defvar *v* 1)"), model.LoadMini, "(defparameter mini::*v* 9)", model.Tool("load-system", harness.Object{"system": "mini", "force": true})),
		row("a package that was changed from within", "(app:f)", "1",
			"(defpackage :app (:use :cl))", "(in-package :app)", "(defun f () 1)", "(defpackage :app (:use :cl) (:export #:f))"),
		row("a package that came to use a later one", "(app::start)", "1",
			"(defpackage :app (:use :cl))", "(in-package :app)", "(defun start () 1)", "(defpackage :lib (:use :cl))", "(defpackage :app (:use :cl :lib))"),
		row("a package of two spellings", "(find-package :foo)", "NIL",
			`(defpackage "FOO" (:use :cl))`, "(defpackage :foo (:use :cl) (:export #:x))", "(delete-package :foo)", "(defun f () 1)"),
		row("an export in a file's package", "(app:a)", "1",
			load("app.lisp", "(defpackage :app (:use :cl))"), `(dolist (s '("A")) (export (intern s :app) :app))`, "(defun app:a () 1)"),
		row("a file that code loads", "(list (c2) *z* (typep (make-bb) 'aa))", "(2 2 T)",
			model.File("f.lisp", "(defmacro cm1 () 2) (defun c2 () (cm1)) (defstruct aa x) (defstruct (bb (:include aa)) y) (defparameter *z* (c2))"), `(load "f.lisp")`),
		row("a feature that a file adds", "(not (null (find :fromfile *features*)))", "T",
			model.File("f.lisp", "(pushnew :fromfile *features*)"), `(load "f.lisp")`, "(defun f () 1)"),
		row("a structure that is a list", "(make-pp :a 1)", "(1 NIL)", "(defstruct (pp (:type list)) a b)"),
		row("a form that a saved session tries early", "(list (op1) (op2))", "(112 2)",
			"(ignore-errors (handler-bind ((warning #'muffle-warning)) (eval '(labels ((n () 112)) (defun op1 () (n))))))",
			"(ignore-errors (let ((n 2)) (defun op2 () n)) (error \"x\"))"),
		row("what code evaluates beside what it does not reach", "(list (op) (fboundp 'never))", "(145 NIL)",
			"(ignore-errors (eval `(defun op () ,(+ 145 0))) (error \"x\") (defun never () 0))"),
		row("a macro in place of a function that a macro call had defined", "(list (op) *va*)", "(114 112)",
			"(defun op () 1)", "(defmacro defpair (a b n) `(progn (defun ,a () ,n) (defparameter ,b ,n)))", "(defpair op *va* 112)", "(defmacro op () 114)"),
		row("a variable that its own form makes unbound", "(boundp '*gone*)", "NIL",
			"(progn (defparameter *gone* 1) (makunbound '*gone*))", "(defun f () 1)"),
		row("a method that was removed", "(list (fm 1) (fm \"x\"))", "(0 0)",
			"(let ((n 0)) (defmethod fm ((x t)) n) (defmethod fm ((x string)) :s))", "(remove-method #'fm (find-method #'fm '() (list (find-class 'string))))"),
	})
}
