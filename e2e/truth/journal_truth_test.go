package truth

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"swank-mcp/e2e/harness"
	"swank-mcp/e2e/model"
	"swank-mcp/internal/tier"
)

// tick lets a file system and ASDF tell two edits apart by their second.
var tick = model.Call{Wait: 1100 * time.Millisecond}

// A definition from a system's file replaces one that the session evaluated before the
// load. One that the session evaluates after the load replaces the file's.
func TestTruthOfSystems(t *testing.T) {
	t.Parallel()
	many := []any{model.Mini("a", "(defun fa () 11)"), model.LoadMini}
	var file strings.Builder
	for i := range 57 {
		many = append(many, fmt.Sprintf("(defun mini::f%d () :old)", i))
		fmt.Fprintf(&file, "(defun f%d () %d)\n", i, i)
	}
	many = append(many, tick, model.Mini("a", file.String()), model.LoadMini)
	rowsHold(t, tier.Tries(t, 2, 1), []truthRow{
		{name: "a load supersedes what was tried live",
			make: []any{model.Mini("a", "(defun fa () 11)"), model.LoadMini, "(defun mini::fa () 12)", tick, model.Mini("a", "(defun fa () 13)"), model.LoadMini},
			look: "(mini::fa)", want: "13", saved: true},
		{name: "57 definitions tried live", make: many, look: `(loop for i below 57 always (eql i (funcall (intern (format nil "F~D" i) :mini))))`, want: "T", saved: true},
		{name: "a macro that compile-file recorded",
			make: []any{model.Mini("a", "(defmacro m () 11)"), model.LoadMini, tick, model.Mini("a", "(defmacro m () 12)"), model.Tool("compile-file", harness.Object{"path": "mini/a.lisp"}),
				tick, model.Mini("a", "(defmacro m () 13)"), model.LoadMini},
			look: "(mini::m)", want: "13", saved: true},
		{name: "what was tried live last comes back last",
			make: []any{model.Mini("a", "(defun fa () 11)"), model.LoadMini, "(defun mini::fa () 12)"},
			look: "(mini::fa)", want: "12", saved: true},
		{name: "what the system needs at its load comes back before it",
			make: []any{"(defvar *setting* 7)", model.Mini("a", "(defparameter *had* cl-user::*setting*)"), model.LoadMini},
			look: "mini::*had*", want: "7", saved: true},
		{name: "what needs the system comes back behind it",
			make: []any{"(defun first-one () 1)", model.Mini("a", "(defmacro m () 5)"), model.LoadMini, "(defun uses () (mini::m))"},
			look: "(uses)", want: "5", saved: true},
		{name: "a definition before the first load of the system that has it",
			make: []any{"(defpackage :mini (:use :cl))", "(defun mini::fa () 12)", model.Mini("a", "(defun fa () 11)"), model.LoadMini},
			look: "(mini::fa)", want: "11", saved: true},
		{name: "a file loaded by an evaluation", make: []any{"(defun fa () 1)", model.File("f.lisp", "(defun fa () 2)"), `(load "f.lisp")`}, look: "(fa)", want: "2", saved: true},
	})
}

// Code that is only expanded, compiled or read defines nothing.
func TestTruthOfExpansion(t *testing.T) {
	t.Parallel()
	var rows []truthRow
	for _, c := range [][2]string{
		{"macroexpand-1", "(macroexpand-1 '(defun fa () 99))"},
		{"macroexpand", "(macroexpand '(defun fa () 99))"},
		{"compile", "(compile nil '(lambda () (defun fa () 99)))"},
		{"a branch of IF", "(if nil (defun fa () 99) 3)"},
		{"a branch of WHEN", "(when (> 0 1) (defun fa () 99))"},
		{"a branch of COND", "(cond ((car '(nil)) (defun fa () 99)) (t 3))"},
		{"a branch in LET", "(let ((x nil)) (when x (defun fa () 99)))"},
		{"a function that is not called", "(defun setup () (defun fa () 2))"},
		{"a local function that is not called", "(flet ((setup () (defun fa () 2))) #'setup)"},
		{"IGNORE-ERRORS", "(ignore-errors (defun fa (x x) 2))"},
		{"HANDLER-CASE", "(handler-case (progn (error \"x\") (defun fa () 2)) (error () 3))"},
		{"quoted", "(list '(defun fa () 99))"},
	} {
		rows = append(rows, truthRow{name: c[0], make: []any{"(defun fa () 1)", c[1]}, look: "(fa)", want: "1", saved: true})
	}
	rows = append(rows,
		truthRow{name: "a tool that expands", make: []any{"(defun fa () 1)", model.Tool("macroexpand-form", harness.Object{"form": "(defun fa () 99)"})}, look: "(fa)", want: "1", saved: true},
		truthRow{name: "the function is called later", make: []any{"(defun fa () 1)", "(defun setup () (defun fa () 2))", "(setup)"}, look: "(fa)", want: "2", saved: true},
		truthRow{name: "nothing was defined before", make: []any{"(defun b () 1)", "(macroexpand-1 '(defun fa () 99))"}, look: "(list (b) (fboundp 'fa))", want: "(1 NIL)", saved: true},
	)
	rowsHold(t, tier.Tries(t, 2, 1), rows)
}
