package e2e

import (
	"strings"
	"testing"
)

// The examples of the tool's first specification, in its order, to the letter.
// Where it shows what no Common Lisp does, the text is the one decided on
// since: (make-list 200) prints 100 elements and then "...".
func TestSpecifiedExamples(t *testing.T) {
	s := start(t)
	for _, c := range []struct {
		name, code, text string
		isErr            bool
	}{
		{"sum", "(+ 1 2 3)", "=> 6", false},
		{"mapcar", "(mapcar #'1+ '(1 2 3))", "=> (2 3 4)", false},
		{"two forms, newline", "(defun foo (x) (* x 2))\n(foo 21)", "=> 42", false},
		{"two forms, space", "(defun square (x) (* x x)) (square 5)", "=> 25", false},
		{"simple value", "(+ 1 2)", "=> 3", false},
		{"stdout", "(progn (print 'hello) 42)", "[stdout]\nHELLO\n\n=> 42", false},
		{"multiple values", "(floor 17 5)", "=> 3\n=> 2", false},
		{"warnings", "(defun foo () (let ((x 10))))",
			"[warnings]\nSTYLE-WARNING: The variable X is defined but never used.\n\n=> FOO", false},
		{"division by zero", "(/ 1 0)",
			"[ERROR] DIVISION-BY-ZERO\narithmetic error DIVISION-BY-ZERO signalled\nOperation was (/ 1 0).\n\n[Backtrace]\n0: (/ 1 0)", true},
		{"undefined function", "(fmakunbound 'foo) (foo 42)",
			"[ERROR] UNDEFINED-FUNCTION\nThe function COMMON-LISP-USER::FOO is undefined.\n\n[Backtrace]\n0: (FOO 42)", true},
		{"type error", "(car 42)",
			"[ERROR] TYPE-ERROR\nThe value 42 is not of type LIST.\n\n[Backtrace]\n0: (CAR 42)", true},
		{"circular structure", "(let ((x (list 1 2 3))) (setf (cdddr x) x) x)", "=> #1=(1 2 3 . #1#)", false},
		{"stream capture", `(progn (format t "Output~%") (format *error-output* "Error~%") 42)`,
			"[stdout]\nOutput\n\n[stderr]\nError\n\n=> 42", false},
		{"last form only", "(setf x 10) (setf y 20) (+ x y)", "=> 30", false},
		{"persistence 1", "(defun square (x) (* x x))", "=> SQUARE", false},
		{"persistence 2", "(square 7)", "=> 49", false},
		{"no values", "(values)", "; No values", false},
		{"trace output", "(progn (format *trace-output* \"tr~%\") 1)", "[stderr]\ntr\n\n=> 1", false},
		{"debug and query output are suppressed",
			"(progn (format *debug-io* \"x\") (format *query-io* \"y\") (finish-output *query-io*) 1)", "=> 1", false},
		{"warning beside value", "(progn (warn \"careful\") 7)", "[warnings]\nWARNING: careful\n\n=> 7", false},
		{"binding persists", "(list x y)", "=> (10 20)", false},
		{"local binding does not", "(progn (let ((gone-local 1)) gone-local) (boundp 'gone-local))", "=> NIL", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, isErr := eval(t, s, c.code)
			if got != c.text || isErr != c.isErr {
				t.Errorf("evaluating %s\n got (isError %v):\n%s\nwant (isError %v):\n%s", c.code, isErr, got, c.isErr, c.text)
			}
		})
	}

	t.Run("package argument", func(t *testing.T) {
		want(t, s, "(defpackage :my-package (:use :cl)) :made", "=> :MADE")
		r := call(t, s, patience, "evaluate-lisp", map[string]any{"code": "(in-package :my-package)", "package": "cl-user"})
		if r.IsError || r.Text() != `=> #<PACKAGE "MY-PACKAGE">` {
			t.Errorf("in-package answered %q", r.Text())
		}
		r = call(t, s, patience, "evaluate-lisp", map[string]any{"code": "(defun foo () 1)", "package": "MY-PACKAGE"})
		if r.IsError || r.Text() != "=> FOO" {
			t.Errorf("defun in MY-PACKAGE answered %q", r.Text())
		}
		want(t, s, "(in-package :cl-user) (my-package::foo)", "=> 1")
	})

	t.Run("truncated list", func(t *testing.T) {
		got, isErr := eval(t, s, "(make-list 200)")
		if isErr || strings.Count(got, "NIL") != 100 || !strings.HasPrefix(got, "=> (NIL NIL") || !strings.HasSuffix(got, "...)") {
			t.Errorf("(make-list 200) answered:\n%s", got)
		}
	})

	t.Run("print level", func(t *testing.T) {
		got, isErr := eval(t, s, "(let ((x 'core)) (dotimes (i 12 x) (setf x (list x))))")
		if isErr || got != "=> ((((((((((#))))))))))" {
			t.Errorf("12 levels answered %q", got)
		}
	})
}
