package survival

import (
	"strings"
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/e2e/wire"
	"swank-mcp/internal/tier"
)

// Each probe ended or deafened at least one other server. A fresh server each:
// the client waits, cancels what does not end, and then the session must answer at
// once with its state.
func TestDamageProbes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, code string
		endless    bool   // never ends by itself: the client's cancellation ends it
		isErr      bool   // otherwise: whether the answer is an error
		prefix     string // and how it begins, or what it contains after "…"
	}{
		{"loop", "(loop)", true, false, ""},
		{"sleep", "(sleep 60)", true, false, ""},
		{"loop that swallows serious conditions", "(loop (handler-case (loop) (serious-condition () nil)))", true, false, ""},
		{"loop with cleanup that loops once", "(unwind-protect (progn SIGN (loop)) (sleep 0.1))", true, false, ""},
		{"PRINT-OBJECT that loops", "(defclass lp () ()) (defmethod print-object ((x lp) s) SIGN (loop)) (make-instance 'lp)", true, false, ""},
		{"exit", "(sb-ext:exit)", false, true, "…exit"},
		{"deep recursion", "(labels ((f (n) (+ 1 (f n)))) (f 1))", false, true, "[ERROR] STORAGE-CONDITION\n"},
		{"huge array", "(make-array 8000000000)", false, true, "[ERROR] STORAGE-CONDITION\n"},
		{"read-line", "(read-line)", false, true, "[ERROR] END-OF-FILE\n"},
		{"read-line of the process' stdin", "(read-line sb-sys:*stdin*)", false, true, "[ERROR] END-OF-FILE\n"},
		{"y-or-n-p", "(y-or-n-p)", false, true, "[ERROR] END-OF-FILE\n"},
		{"fd 1 write, no newline", harness.RawWrite("no-newline"), false, false, "…=> :WROTE"},
		{"fd 1 line", harness.RawWrite("a-line\\n"), false, false, "…=> :WROTE"},
		{"sb-sys:*stdout*", `(progn (format sb-sys:*stdout* "{\"jsonrpc\":\"2.0\"}~%") (finish-output sb-sys:*stdout*) :wrote)`, false, false, "…=> :WROTE"},
		{"child process output", `(progn (sb-ext:run-program "/bin/sh" '("-c" "echo out; echo err >&2") :output t :error t) :wrote)`, false, false, "…=> :WROTE"},
		{"error in a new thread", `(progn (sb-thread:make-thread (lambda () (error "in thread"))) (sleep 0.2) :on)`, false, false, "…=> :ON"},
		{"thread prints", `(progn (sb-thread:join-thread (sb-thread:make-thread (lambda () (print :from-thread)))) :on)`, false, false, "…=> :ON"},
		{"break", `(break "stop here")`, false, true, "…stop here"},
		{"invoke-debugger", `(invoke-debugger (make-condition 'simple-error :format-control "by hand"))`, false, true, "[ERROR] SIMPLE-ERROR\nby hand"},
		{"failing PRINT-OBJECT", `(defclass fp () ()) (defmethod print-object ((x fp) s) (error "cannot")) (make-instance 'fp)`, false, false, "…"},
		{"circular list", "(let ((l (list 1 2 3))) (setf (cdddr l) l))", false, false, "=> #1=(1 2 3 . #1#)"},
		{"lambda out", `(string (code-char 955))`, false, false, `=> "λ"`},
		{"emoji out", `(string (code-char 128512))`, false, false, `=> "😀"`},
		{"NUL out", `(string (code-char 0))`, false, false, `=> "`},
		{"lone surrogate out", `(string (code-char #xd800))`, false, false, `=> "`},
		{"complex in a list", "(list #c(1 2))", false, false, "=> (#C(1 2))"},
		{"infinity in a list", "(list sb-ext:double-float-positive-infinity)", false, false, "=> (#.DOUBLE-FLOAT-POSITIVE-INFINITY)"},
		{"time", "(time (+ 1 2))", false, false, "[stderr]\nEvaluation took:"},
		{"unbalanced parenthesis", "(+ 1 2))", false, true, "[ERROR] READER-ERROR\n"},
		{"missing parenthesis", "(+ 1 2", false, true, "[ERROR] "},
		{"comment only", "; nothing", false, false, ""},
		{"read-time evaluation", "#.(+ 1 2)", false, false, "=> 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := harness.Start(t)
			l := harness.Begin(t, s)
			if c.endless {
				harness.Cancelled(t, s, c.code)
			} else {
				r := harness.Call(t, s, "evaluate-lisp", harness.Object{"code": c.code})
				if r.IsError != c.isErr && c.name != "exit" && c.name != "failing PRINT-OBJECT" ||
					!harness.Fits(strings.ToLower(c.prefix)+harness.Elided, strings.ToLower(r.Text())) {
					t.Errorf("%s answered (isError %v):\n%s\nwant (isError %v): %s", c.code, r.IsError, harness.Clip(r.Text()), c.isErr, c.prefix)
				}
			}
			l.GoesOn(t, s)
		})
	}
}

// The reader of the session must not stay spoilt, or be easy to mend.
func TestReadtableCase(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	l := harness.Begin(t, s)
	harness.Eval(t, s, "(setf (readtable-case *readtable*) :preserve)")
	harness.Want(t, s, "(+ 1 2)", "=> 3")
	harness.Eval(t, s, "(SETF (READTABLE-CASE *READTABLE*) :UPCASE)")
	l.GoesOn(t, s)
}

// The case without a cure inside the image: see also death_test.go.
func TestLoopWithoutInterruptsCancelled(t *testing.T) {
	tier.More(t)
	t.Parallel()
	s := harness.Start(t)
	l := harness.Begin(t, s)
	harness.Cancelled(t, s, "(sb-sys:without-interrupts SIGN (loop))")
	newImage(t, s, l)
}

func TestPing(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	var v map[string]any
	if err := s.Call(t.Context(), "ping", nil, &v); err != nil || len(v) != 0 {
		t.Errorf("ping answered %v, %v; want an empty object", v, err)
	}
}

func TestUnknownProtocolVersion(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"1999-01-01", "2099-12-31", ""} {
		s := harness.StartCold(t, wire.Options{Env: harness.Environ(harness.Run.Dir)})
		var o wire.Opened
		err := s.Call(t.Context(), "initialize", harness.Object{"protocolVersion": version,
			"capabilities": harness.Object{}, "clientInfo": harness.Object{"name": "x", "version": "1"}}, &o)
		if err != nil || !strings.HasPrefix(o.ProtocolVersion, "202") || o.ProtocolVersion == version {
			t.Errorf("version %q: offered %q, %v; want one of the server's own", version, o.ProtocolVersion, err)
		}
	}
}

// A function of COMMON-LISP that was redefined, and on which the helper stands,
// must not make evaluations look as if they had no values.
func TestRedefinedStandardFunction(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	l := harness.Begin(t, s)
	harness.WantError(t, s, `(sb-ext:unlock-package :cl) (defun string-downcase (x) x "oops") (list :a)`, "[ERROR] IMAGE-REPLACED\n")
	newImage(t, s, l)
	harness.Want(t, s, `(string-downcase "ABC")`, `=> "abc"`)
}
