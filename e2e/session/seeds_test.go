package session

import (
	"strings"
	"testing"

	"swank-mcp/e2e/harness"
)

// The examples of the tool's first specification, in its order, to the letter.
// Where it shows what no Common Lisp does, the text is the one decided on
// since: (make-list 200) prints 100 elements and then "...".
func TestSpecifiedExamples(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	for _, c := range []struct {
		name, code, text string
	}{
		{"sum", "(+ 1 2 3)", "=> 6"},
		{"mapcar", "(mapcar #'1+ '(1 2 3))", "=> (2 3 4)"},
		{"two forms, newline", "(defun foo (x) (* x 2))\n(foo 21)", "=> 42"},
		{"two forms, space", "(defun square (x) (* x x)) (square 5)", "=> 25"},
		{"simple value", "(+ 1 2)", "=> 3"},
		{"stdout", "(progn (print 'hello) 42)", "[stdout]\nHELLO\n\n=> 42"},
		{"multiple values", "(floor 17 5)", "=> 3\n=> 2"},
		{"warnings", "(defun foo () (let ((x 10))))",
			"[warnings]\nSTYLE-WARNING: The variable X is defined but never used.\n\n=> FOO"},
		{"division by zero", "(/ 1 0)",
			"[ERROR] DIVISION-BY-ZERO\narithmetic error DIVISION-BY-ZERO signalled\nOperation was (/ 1 0).\n\n[Backtrace]\n0: (/ 1 0)"},
		{"undefined function", "(fmakunbound 'foo) (foo 42)",
			"[ERROR] UNDEFINED-FUNCTION\nThe function COMMON-LISP-USER::FOO is undefined.\n\n[Backtrace]\n0: (FOO 42)"},
		{"type error", "(car 42)",
			"[ERROR] TYPE-ERROR\nThe value 42 is not of type LIST.\n\n[Backtrace]\n0: (CAR 42)"},
		{"circular structure", "(let ((x (list 1 2 3))) (setf (cdddr x) x) x)", "=> #1=(1 2 3 . #1#)"},
		{"stream capture", `(progn (format t "Output~%") (format *error-output* "Error~%") 42)`,
			"[stdout]\nOutput\n\n[stderr]\nError\n\n=> 42"},
		{"last form only", "(setf x 10) (setf y 20) (+ x y)", "=> 30"},
		{"persistence 1", "(defun square (x) (* x x))", "=> SQUARE"},
		{"persistence 2", "(square 7)", "=> 49"},
		{"no values", "(values)", "; No values"},
		{"trace output", "(progn (format *trace-output* \"tr~%\") 1)", "[stderr]\ntr\n\n=> 1"},
		{"debug and query output are suppressed",
			"(progn (format *debug-io* \"x\") (format *query-io* \"y\") (finish-output *query-io*) 1)", "=> 1"},
		{"warning beside value", "(progn (warn \"careful\") 7)", "[warnings]\nWARNING: careful\n\n=> 7"},
		{"binding persists", "(list x y)", "=> (10 20)"},
		{"local binding does not", "(progn (let ((gone-local 1)) gone-local) (boundp 'gone-local))", "=> NIL"},
	} {
		t.Run(c.name, func(t *testing.T) {
			harness.Want(t, s, c.code, c.text)
		})
	}

	t.Run("package argument", func(t *testing.T) {
		harness.Want(t, s, "(defpackage :my-package (:use :cl)) :made", "=> :MADE")
		harness.WantReply(t, s, "evaluate-lisp", harness.Object{"code": "(in-package :my-package)", "package": "cl-user"}, `=> #<PACKAGE "MY-PACKAGE">`)
		harness.WantReply(t, s, "evaluate-lisp", harness.Object{"code": "(defun foo () 1)", "package": "MY-PACKAGE"}, "=> FOO")
		harness.Want(t, s, "(in-package :cl-user) (my-package::foo)", "=> 1")
	})

	t.Run("truncated list", func(t *testing.T) {
		if got := harness.Want(t, s, "(make-list 200)", "=> (NIL NIL…...)"); strings.Count(got, "NIL") != 100 {
			t.Errorf("(make-list 200) answered:\n%s", got)
		}
	})

	t.Run("print level", func(t *testing.T) {
		harness.Want(t, s, "(let ((x 'core)) (dotimes (i 12 x) (setf x (list x))))", "=> ((((((((((#))))))))))")
	})
}
