package session

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/e2e/wire"
)

// A wrongCall is a call that an agent plausibly makes and that cannot be done.
type wrongCall struct {
	name      string
	tool      string
	arguments string // JSON
	next      string // the tool that the error names; "" means the same one
}

// Each is made in a session where SHAPES:SQUARE, SHAPES::AREA and BROKEN are
// defined and evaluation 1 is suspended in BROKEN, with 2 locals and 1 restart.
var wrongCalls = []wrongCall{
	{"code left out", "evaluate-lisp", `{}`, ""},
	{"code by another name", "evaluate-lisp", `{"form": "(+ 1 2)"}`, ""},
	{"code as a list of forms", "evaluate-lisp", `{"code": ["(+ 1 2)", "(* 2 3)"]}`, ""},
	{"code as a number", "evaluate-lisp", `{"code": 42}`, ""},
	{"an argument with a typing error", "evaluate-lisp", `{"code": "1", "packge": "shapes"}`, ""},
	{"an argument of another server", "evaluate-lisp", `{"code": "1", "language": "common-lisp"}`, ""},
	{"a package with a typing error", "evaluate-lisp", `{"code": "(square 2)", "package": "shaeps"}`, ""},
	{"a time limit of zero", "evaluate-lisp", `{"code": "1", "timeout": 0}`, ""},
	{"a time limit that is too long", "evaluate-lisp", `{"code": "1", "timeout": 86400}`, ""},
	{"a time limit with its unit", "evaluate-lisp", `{"code": "1", "timeout": "5s"}`, ""},
	{"a debug quality that there is not", "evaluate-lisp", `{"code": "1", "debug": 9}`, ""},
	{"a debug quality in words", "evaluate-lisp", `{"code": "1", "debug": "high"}`, ""},
	{"a choice that there is not", "evaluate-lisp", `{"code": "1", "on-error": "reprot"}`, ""},
	{"a flag as a number", "evaluate-lisp", `{"code": "1", "capture-time": 1}`, ""},
	{"a parenthesis missing", "evaluate-lisp", `{"code": "(defun f (x)\n  (* x 2)\n(defun g (x) x)"}`, "evaluate-lisp"},
	{"a parenthesis missing behind what was evaluated", "evaluate-lisp", `{"code": "(defvar *evaluated* 1)\n(list *evaluated*"}`, "evaluate-lisp"},
	{"a class with a typing error", "evaluate-lisp", `{"code": "(make-instance 'shapes::blbo)"}`, ""},
	{"an initarg with a typing error", "evaluate-lisp", `{"code": "(make-instance 'shapes::blob :colour 1)"}`, ""},
	{"a condition with a typing error", "evaluate-lisp", `{"code": "(make-condition 'simple-eror)"}`, ""},
	{"a parenthesis too many", "evaluate-lisp", `{"code": "(+ 1 2))"}`, "validate-syntax"},
	{"a quote missing", "evaluate-lisp", `{"code": "(print \"hello)"}`, "validate-syntax"},
	{"a symbol that is not exported", "evaluate-lisp", `{"code": "(shapes:area 3)"}`, ""},
	{"a package in the code with a typing error", "evaluate-lisp", `{"code": "(shpaes:square 3)"}`, ""},
	{"a package whose system is not loaded", "evaluate-lisp", `{"code": "(alexandria:flatten (list 1 (list 2)))"}`, "load-system"},
	{"the nickname of such a package", "evaluate-lisp", `{"code": "(5am:run!)"}`, "load-system"},
	{"such a package to be used", "evaluate-lisp", `{"code": "(defpackage :mine (:use :cl :cl-ppcre))"}`, "load-system"},
	{"Quicklisp where it is not", "evaluate-lisp", `{"code": "(ql:quickload :cl-ppcre)"}`, "load-system"},
	{"Quicklisp by its long name", "evaluate-lisp", `{"code": "(quicklisp:quickload '(\"alexandria\"))"}`, "load-system"},
	{"a package to be in with a typing error", "evaluate-lisp", `{"code": "(in-package #:shaeps)"}`, ""},
	{"an exported symbol with a typing error", "evaluate-lisp", `{"code": "(shapes:sqaure 3)"}`, ""},
	{"a system with a typing error", "load-system", `{"system": "alexandira"}`, ""},
	{"a system without a name", "load-system", `{"system": " "}`, ""},
	{"a type of definitions that there is not", "list-definitions", `{"type": "function definitions"}`, ""},
	{"a kind of packages that there is not", "list-packages", `{"kind": "users"}`, ""},
	{"an argument where none is taken", "reset-session", `{"confirm": true}`, ""},
	{"a handle that is not there", "read-output", `{"handle": "out-99"}`, ""},
	{"an offset behind the end", "read-output", `{"handle": "out-1", "offset": 200000}`, ""},
	{"a pattern that is none", "read-output", `{"handle": "out-1", "grep": "("}`, ""},
	{"a symbol with a typing error", "describe-symbol", `{"name": "shapes:sqaure"}`, ""},
	{"a symbol in an unknown package", "describe-symbol", `{"name": "shaeps:square"}`, ""},
	{"an internal symbol with one colon", "describe-symbol", `{"name": "shapes:area"}`, ""},
	{"code where a name is wanted", "describe-symbol", `{"name": "(shapes:square 2)"}`, ""},
	{"a definition of nothing", "find-definition", `{"name": "sqare", "package": "shapes"}`, ""},
	{"cross-references of nothing", "cross-reference", `{"name": "shapes:sqaure"}`, ""},
	{"a cross-reference that there is not", "cross-reference", `{"name": "broken", "kind": "everything there is"}`, ""},
	{"a symbol that the standard does not have", "hyperspec-lookup", `{"name": "defunn"}`, ""},
	{"completion in an unknown package", "complete-symbol", `{"prefix": "squ", "package": "shaeps"}`, ""},
	{"a system that there is not", "describe-system", `{"system": "alexandira"}`, ""},
	{"a macro mode that there is not", "macroexpand-form", `{"form": "(when a b)", "mode": "completely"}`, ""},
	{"a macro form that is not whole", "macroexpand-form", `{"form": "(when a"}`, ""},
	{"both of what excludes each other", "validate-syntax", `{"code": "(+ 1 2)", "path": "x.lisp"}`, ""},
	{"a file that is not there", "validate-syntax", `{"path": "no-such-file.lisp"}`, ""},
	{"a frame that there is not", "inspect-frame", `{"frame": 500}`, ""},
	{"a negative frame", "inspect-frame", `{"frame": -1}`, ""},
	{"an evaluation that is not suspended", "get-backtrace", `{"evaluation": 77}`, ""},
	{"a restart that there is not", "invoke-restart", `{"restart": "retry-everything"}`, ""},
	{"a restart's number that there is not", "invoke-restart", `{"restart": "99"}`, ""},
	{"a frame to return from that there is not", "return-from-frame", `{"frame": 500, "values": "42"}`, ""},
	{"code for a frame that is not whole", "evaluate-in-frame", `{"frame": 0, "code": "(list x"}`, ""},
	{"a handle of an object that is not there", "inspect-object", `{"handle": "obj-999"}`, ""},
	{"a path that leads nowhere", "inspect-object", `{"code": "(list 1 2 3)", "path": "99"}`, ""},
	{"a thread that is not there", "interrupt-thread", `{"thread": "no such thread"}`, ""},
	{"a mode of profiling that there is not", "profile-code", `{"code": "(shapes:square 2)", "mode": "speed"}`, ""},
	{"a function to trace that there is not", "trace-function", `{"functions": "shapes:sqaure", "code": "(shapes:square 2)"}`, ""},
	{"a file outside of the directory", "save-session", `{"file": "/etc/session.lisp"}`, ""},
	{"a session file that is not there", "load-session", `{"file": "shaeps.lisp"}`, ""},
}

const teachingSession = `
(defpackage :shapes (:use :cl) (:export #:square #:doing-thrice))
(in-package :shapes)
(defclass blob () ((color :initarg :color)))
(defmacro doing-thrice ((name count) &body body) (list* 'dotimes (list name count) body))
(defun square (x) (* x x))
(defun area (x) (square x))
(in-package :cl-user)
(defun broken (x) (let ((y (list x))) (restart-case (error "broken: ~A" y) (use-value (v) v))))`

var nextLine = regexp.MustCompile(`(?m)^(?:Next|To step through a call): (\S+) (\{.*\})`)

// nextCall is the call that an error names.
func nextCall(t *testing.T, text string) (tool string, args harness.Object) {
	t.Helper()
	m := nextLine.FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("no next call in:\n%s", text)
	}
	return m[1], fromJSONText(t, m[2])
}

func fromJSONText(t *testing.T, text string) (args harness.Object) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &args); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return args
}

// Every error names the next call to make, and that call works.
func TestErrorsTeach(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := harness.StartWith(t, wire.Options{}, "--toolsets", "all", "--session-dir", dir)
	prepare := func() {
		harness.Call(t, s, "reset-session", harness.Object{})
		for _, code := range []string{teachingSession, `(make-string 100000 :initial-element #\x)`} {
			harness.WantRuns(t, s, code)
		}
		harness.Good(t, s, "save-session", harness.Object{"file": "shapes.lisp", "overwrite": true})
		harness.Says(t, harness.Bad(t, s, "evaluate-lisp", harness.Object{"code": "(list :value (broken 1))", "on-error": "debug", "debug": 3}), "[Restarts]")
	}
	if len(wrongCalls) < 40 {
		t.Errorf("only %d wrong calls are tried", len(wrongCalls))
	}
	prepare()
	for _, c := range wrongCalls {
		t.Run(c.name, func(t *testing.T) {
			tool, args := nextCall(t, harness.Bad(t, s, c.tool, fromJSONText(t, c.arguments)))
			if c.next != "" && tool != c.next {
				t.Errorf("%s %s: the next call is of %s, want %s", c.tool, c.arguments, tool, c.next)
			}
			harness.Good(t, s, tool, args)
			switch tool {
			case "invoke-restart", "return-from-frame", "reset-session", "abort-evaluation", "restart-frame", "load-session":
				prepare()
			}
		})
	}
}

// The error about an unknown name suggests similar names, and suggests nothing where
// none is similar.
func TestUnknownNamesTeach(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	harness.Want(t, s, teachingSession+` (defpackage :mine (:use :cl)) (in-package :mine) (defvar *limit* 3) (defun threshold () 1)
(in-package :cl-user) :ok`, "=> :OK")
	for _, c := range []struct{ code, message string }{
		{"(square 3)", "The function COMMON-LISP-USER::SQUARE is undefined.\nIn other packages: SHAPES:SQUARE.\n"},
		{"*limit*", "The variable *LIMIT* is unbound.\nIn other packages: MINE::*LIMIT*.\n"},
		{"(mine::treshold)", "The function MINE::TRESHOLD is undefined.\nNear it: MINE::THRESHOLD.\n"},
		{"*print-lenght*", "The variable *PRINT-LENGHT* is unbound.\nNear it: *PRINT-LENGTH*.\n"},
		{"(mapcar broken '(1 2))", "The variable BROKEN is unbound.\nBROKEN names a function: write #'BROKEN to pass it, (BROKEN ...) to call it.\n"},
		{"when", "The variable WHEN is unbound.\nWHEN is an operator: write (WHEN ...).\n"},
		{"(in-package :mine) (gc)", "The function MINE::GC is undefined.\nIn other packages: SB-EXT:GC.\n"},
		{"(in-package :cl-user) (doing-thrice (i 3) (print i))", "The function COMMON-LISP-USER::I is undefined.\nDOING-THRICE is no macro here; it is one in another package: SHAPES:DOING-THRICE.\n"},
		{"(make-instance 'no-such-thing-at-all)", "There is no class named COMMON-LISP-USER::NO-SUCH-THING-AT-ALL.\n\n"},
		{"(make-instance 'shapes::blob :z 1)", "Invalid initialization argument: :Z in call for class #<STANDARD-CLASS SHAPES::BLOB>.\nInitargs of SHAPES::BLOB: :COLOR.\n"},
		{"(foo 3)", "The function COMMON-LISP-USER::FOO is undefined.\n\n"},
		{"(in-package :nothing-like-it)", "The name \"NOTHING-LIKE-IT\" does not designate any package.\n\n"},
		{"(nonesuch:x)", "Package NONESUCH does not exist.\nAt line 1"},
		{"(qz:x)", "Package QZ does not exist.\nAt line 1"},
		{"(ql:quickload :nonesuch-at-all)", "Package QL does not exist.\nQuicklisp is not in this image; load-system"},
		{"(shapes:zzzzzzzz)", "Symbol \"ZZZZZZZZ\" not found in the SHAPES package.\nAt line 1"},
	} {
		text, isErr := harness.Eval(t, s, c.code)
		_, rest, _ := strings.Cut(text, "\n")
		if !isErr || !strings.HasPrefix(rest, c.message) ||
			strings.HasPrefix(c.code, "(ql:") && strings.Contains(text, "Next:") {
			t.Errorf("%s answered (isError %v):\n%s\nwant:\n%s", c.code, isErr, text, c.message)
		}
	}
}
