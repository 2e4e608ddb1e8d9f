package truth

import (
	"fmt"
	"strings"
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/e2e/model"
	"swank-mcp/internal/tier"
)

// effect leaves a trace that can be counted: one character of a file.
const effect = `(with-open-file (out "effects" :direction :output :if-exists :append :if-does-not-exist :create) (write-char #\x out))`

const effects = `(with-open-file (in "effects") (file-length in))`

// A restored session has the values of its definitions, and their side effects do not
// happen again.
func TestTruthOfWhatComesBack(t *testing.T) {
	t.Parallel()
	var definitions strings.Builder
	for i := range 21_000 {
		fmt.Fprintf(&definitions, "(defparameter *p%d* %d)\n", i, i)
	}
	rowsHold(t, tier.Tries(t, 2, 1), []truthRow{
		{name: "a second DEFVAR", make: []any{"(defvar *x* 1)", "(defvar *x* 3)"}, look: "*x*", want: "1", saved: true},
		{name: "a second DEFVAR without a value", make: []any{"(defvar *x* 1)", "(defvar *x*)"}, look: "*x*", want: "1", saved: true},
		{name: "a first DEFVAR without a value", make: []any{"(defvar *x*)", "(defvar *x* 3)"}, look: "*x*", want: "3", saved: true},
		{name: "a DEFVAR behind a MAKUNBOUND", make: []any{"(defvar *x* 1)", "(makunbound '*x*)", "(defvar *x* 3)"}, look: "*x*", want: "3", saved: true},
		{name: "a DEFVAR behind a DEFPARAMETER", make: []any{"(defparameter *x* 1)", "(defvar *x* 3)"}, look: "*x*", want: "1", saved: true},
		{name: "*FEATURES*", make: []any{"(push :foo *features*)", "#+foo (defun fa () 1) #-foo (defun fa () 2)"}, look: "(fa)", want: "1", saved: true},
		{name: "*FEATURES* in what is read later", make: []any{"(push :foo *features*)", "(defun fa () #+foo 1 #-foo 2)"}, look: "(fa)", want: "1", saved: true},
		{name: "*FEATURES* itself", make: []any{"(push :foo *features*)", "(defun fa () 1)"}, look: "(not (member :foo *features*))", want: "NIL", lost: "*features*", saved: true},
		{name: "*FEATURES* that are gone again", make: []any{"(push :foo *features*)", "(defun fa () #+foo 1 #-foo 2)", "(setf *features* (remove :foo *features*))"}, look: "(fa)", want: "1", saved: true},
		{name: "a readtable changed in place", make: []any{"(set-macro-character #\\! (lambda (in c) (declare (ignore c)) (list 'quote (read in))))", "(defun fa () !foo)"}, look: "(fa)", want: "FOO", saved: true},
		{name: "DEFUN in DOTIMES", make: []any{"(dotimes (i 1) (defun fa () 1))"}, look: "(fa)", want: "1", saved: true},
		{name: "a closure of DOTIMES", make: []any{"(dotimes (i 3) (let ((i i)) (defun fa () i)))"}, look: "(fa)", want: "2", lost: "fa", saved: true},
		{name: "DEFUN in DESTRUCTURING-BIND", make: []any{"(destructuring-bind (a b) '(1 2) (defun fa () (+ a b)))"}, look: "(fa)", want: "3", lost: "fa", saved: true},
		{name: "DEFUN in PROG", make: []any{"(prog ((n 1)) (defun fa () n))"}, look: "(fa)", want: "1", lost: "fa", saved: true},
		{name: "DEFUN in PROG without its variable", make: []any{"(prog ((n 1)) (print n) (defun fa () 1))"}, look: "(fa)", want: "1", saved: true},
		{name: "DEFUN over a closure that is lost", make: []any{"(prog ((n 9)) (defun fa () n))", "(defun fa () 1)"}, look: "(fa)", want: "1", saved: true},
		{name: "a closure over a DEFUN", make: []any{"(defun fa () 9)", "(prog ((n 1)) (defun fa () n))"}, look: "(fa)", want: "1", lost: "fa", saved: true},
		{name: "a method on (EQL variable)", make: []any{"(defvar *k* :one)", "(defgeneric fa (x) (:method (x) x 0))", "(defmethod fa ((x (eql *k*))) x 1)", "(setf *k* :two)", "(defmethod fa ((x (eql *k*))) x 2)"},
			look: "(list (fa :one) (fa :two) (fa :three))", want: "(1 2 0)", saved: true},
		{name: "an effect beside a closure", make: []any{"(let ((n 1)) " + effect + " (defun fa () n))"}, look: effects, want: "1"},
		{name: "a closure beside an effect", make: []any{"(let ((n 1)) " + effect + " (defun fa () n))"}, look: "(fa)", want: "1", lost: "fa"},
		{name: "an effect beside a closure in a saved file", make: []any{"(let ((n 1)) " + effect + " (defun fa () n))", model.Tool("save-session", harness.Object{"file": "early.lisp"}), model.Tool("reset-session", harness.Object{}), model.Tool("load-session", harness.Object{"file": "early.lisp"})}, look: effects, want: "1"},
		{name: "an effect beside a redefinition", make: []any{"(let ((n 1)) " + effect + " (defun fa () n))", "(defun fb () 1)", "(let ((n 2)) " + effect + " (defun fa () n))", "(defun fc () 1)"}, look: effects, want: "2"},
		{name: "21,000 definitions", make: []any{definitions.String(), "(defun fa () 1)"}, look: `(list (fa) (loop for i below 21000 for s = (find-symbol (format nil "*P~D*" i)) count (and s (boundp s) (eql i (symbol-value s)))))`, want: "(1 21000)"},
	})
}
