package e2e

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
)

var nextPattern = regexp.MustCompile(`(?m)^Next: (\S+) (\{.*\})$`)

// Each error of a look-up ends with a call that works.
func TestLookNextCalls(t *testing.T) {
	t.Parallel()
	s := start(t)
	want(t, s, `(defpackage :shapes (:use :cl) (:export #:area)) (defun shapes:area (x) x) (defun shapes::hidden (x) (shapes:area x)) (defvar |mixedCase| 1) (defun measure (x) x) :ok`, "=> :OK")
	for _, c := range []struct {
		tool string
		args map[string]any
		next string // of the call that is suggested
	}{
		{"describe-symbol", map[string]any{"name": "shapes:hidden"}, `describe-symbol {"name": "SHAPES::HIDDEN"}`},
		{"describe-symbol", map[string]any{"name": "shaeps:area"}, `describe-symbol {"name": "SHAPES:AREA"}`},
		{"describe-symbol", map[string]any{"name": "mesure"}, `describe-symbol {"name": "COMMON-LISP-USER::MEASURE"}`},
		{"describe-symbol", map[string]any{"name": "mixedcase"}, `describe-symbol {"name": "COMMON-LISP-USER::|mixedCase|"}`},
		{"describe-symbol", map[string]any{"name": "area"}, `describe-symbol {"name": "SHAPES:AREA"}`},
		{"describe-symbol", map[string]any{"name": "no-such-thing-anywhere"}, `apropos-search {"pattern": "no-such-thing-anywhere"}`},
		{"describe-symbol", map[string]any{"name": "two words"}, `apropos-search {"pattern": "two words"}`},
		{"describe-symbol", map[string]any{"name": "(setf no-such-place)"}, `apropos-search {"pattern": "no-such-place"}`},
		{"describe-symbol", map[string]any{"name": "a:b:c"}, ""},
		{"describe-symbol", map[string]any{"name": "car", "package": "no-such-package"}, ""},
		{"describe-symbol", map[string]any{"name": ""}, ""},
		{"describe-symbol", map[string]any{}, ""},
		{"describe-symbol", map[string]any{"nmae": "car"}, ""},
		{"find-definition", map[string]any{"name": "shapes:hidden"}, `find-definition {"name": "SHAPES::HIDDEN"}`},
		{"find-definition", map[string]any{"name": "mapcarr"}, `find-definition {"name": "COMMON-LISP:MAPCAR"}`},
		{"cross-reference", map[string]any{"name": "shapes:hidden", "kind": "calls"}, `cross-reference {"name": "SHAPES::HIDDEN", "kind": "calls"}`},
		{"cross-reference", map[string]any{"name": "car", "kind": "users"}, ""},
		{"cross-reference", map[string]any{"name": "car", "limit": 0}, ""},
		{"apropos-search", map[string]any{"pattern": "x", "package": "shaps"}, ""},
		{"apropos-search", map[string]any{"pattern": "  "}, ""},
		{"apropos-search", map[string]any{"pattern": "x", "kind": "methods"}, ""},
		{"complete-symbol", map[string]any{"prefix": "shaps:ar"}, ""},
		{"complete-symbol", map[string]any{"prefix": "car", "limit": "many"}, ""},
		{"describe-system", map[string]any{"system": "alexandira"}, `describe-system {"system": "alexandria"}`},
		{"describe-system", map[string]any{"system": "no-such-system-anywhere"}, "describe-system {}"},
		{"hyperspec-lookup", map[string]any{"name": "mapcarr"}, `hyperspec-lookup {"name": "MAPCAR"}`},
		{"hyperspec-lookup", map[string]any{"name": "qqqqqqqq"}, `apropos-search {"pattern": "qqqqqqqq"}`},
	} {
		r := call(t, s, patience, c.tool, c.args)
		m := nextPattern.FindStringSubmatch(r.Text())
		if !r.IsError || m == nil || c.next != "" && m[1]+" "+m[2] != c.next {
			t.Errorf("%s %v: isError %v, want an error with a next call %s:\n%s", c.tool, c.args, r.IsError, c.next, r.Text())
			continue
		}
		var args map[string]any
		if err := json.Unmarshal([]byte(m[2]), &args); err != nil {
			t.Errorf("%s: %v", m[0], err)
			continue
		}
		if next := call(t, s, patience, m[1], args); next.IsError {
			t.Errorf("%s %v suggests %s, which fails:\n%s", c.tool, c.args, m[0], next.Text())
		}
	}
}

// Looking interns nothing, makes no package, runs no macro character and
// changes no variable, whatever the names are.
func TestLookTouchesNothing(t *testing.T) {
	t.Parallel()
	s := start(t)
	want(t, s, `(defvar *ran* 0)
(set-macro-character #\! (lambda (stream char) (declare (ignore stream char)) (incf *ran*)))
(setf *print-base* 16 *read-base* 8 *print-case* :capitalize *print-readably* t *print-length* 1)
(defun census () (let ((n 0)) (do-all-symbols (s) (declare (ignorable s)) (incf n)) (cl:list n (length (list-all-packages)) *ran*)))
(progn (census) :ok)`, "=> :Ok")
	look := func(seen string) {
		t.Helper()
		for _, c := range []struct {
			tool string
			args map[string]any
		}{
			{"describe-symbol", map[string]any{"name": seen + "-1"}},
			{"describe-symbol", map[string]any{"name": "!x"}},
			{"describe-symbol", map[string]any{"name": "#.(incf *ran*)"}},
			{"describe-symbol", map[string]any{"name": "cl-user::" + seen + "-2"}},
			{"describe-symbol", map[string]any{"name": "no-package::" + seen + "-3"}},
			{"describe-symbol", map[string]any{"name": ":" + seen + "-4"}},
			{"describe-symbol", map[string]any{"name": "*ran*"}},
			{"describe-symbol", map[string]any{"name": "asdf"}},
			{"find-definition", map[string]any{"name": "census"}},
			{"find-definition", map[string]any{"name": "(setf " + seen + "-5)"}},
			{"cross-reference", map[string]any{"name": "*ran*"}},
			{"apropos-search", map[string]any{"pattern": seen + "-6 #.(incf *ran*)"}},
			{"complete-symbol", map[string]any{"prefix": seen + "-7"}},
			{"describe-system", map[string]any{"system": "alexandria"}},
			{"describe-system", map[string]any{}},
		} {
			call(t, s, patience, c.tool, c.args)
		}
	}
	look("once") // for what SBCL makes when it is first used
	before, _ := eval(t, s, "(census)")
	look("again")
	if after, _ := eval(t, s, "(census)"); after != before || !strings.HasPrefix(before, "=> (") {
		t.Errorf("looking changed (symbols packages macro-characters-run) from %s to %s", before, after)
	}
	want(t, s, "*ran*", "=> 0")
}

// In a person's image what the person made is found as well, and looking
// leaves it as it was.
func TestLookAttached(t *testing.T) {
	t.Parallel()
	p := newPerson(t, "(require :asdf) (defpackage :theirs (:use :cl) (:export #:greet))") // not every SLIME loads ASDF
	p.says(`(defun theirs:greet (name) "Says hello." (list :hello name))`)
	p.says("(defun theirs::greet-all (names) (mapcar #'theirs:greet names))")
	p.says(`(defvar theirs::*names* '("Ann"))`)
	s := attached(t, p)
	want(t, s, "(defun mine (x) (theirs:greet x))", "=> MINE") // brings the helper's package
	packages := p.says("(length (list-all-packages))")
	for _, c := range []struct {
		tool string
		args map[string]any
		part string
	}{
		{"describe-symbol", map[string]any{"name": "theirs:greet"}, "Documentation: Says hello."},
		{"describe-symbol", map[string]any{"name": "theirs::*names*"}, `Value: ("Ann")`},
		{"apropos-search", map[string]any{"pattern": "greet"}, "- THEIRS:GREET function (NAME)"},
		{"complete-symbol", map[string]any{"prefix": "theirs::gre"}, "- theirs::greet-all"},
		{"cross-reference", map[string]any{"name": "theirs:greet", "kind": "called-by"}, "- MINE, this session"},
		{"find-definition", map[string]any{"name": "mine"}, "(defun mine (x) (theirs:greet x))"},
		{"describe-system", map[string]any{"system": "alexandria"}, "alexandria.asd"},
	} {
		if r := call(t, s, patience, c.tool, c.args); r.IsError || !strings.Contains(r.Text(), c.part) {
			t.Errorf("%s %v: isError %v, want %q in\n%s", c.tool, c.args, r.IsError, c.part, r.Text())
		}
	}
	if got := p.says("(length (list-all-packages))"); got != packages {
		t.Errorf("packages: %s before, %s after", packages, got)
	}
}

// A value whose printing never ends costs list-definitions half a second, and
// session-status and the end of an evaluation nothing.
func TestLookPrintingNeverEnds(t *testing.T) {
	s := start(t)
	want(t, s, `(defclass endless () ()) (defmethod print-object ((e endless) stream) (loop)) (defvar *endless* (make-instance 'endless)) (defvar *fine* 1) :ok`, "=> :OK")
	if got := list(t, s, map[string]any{"type": "variables"}); got != "[Variables]\n- *ENDLESS* = #<printing it takes too long>\n- *FINE* = 1" {
		t.Errorf("list-definitions answered:\n%s", got)
	}
	if got := status(t, s); !strings.Contains(got, "2 variables") {
		t.Errorf("session-status answered:\n%s", got)
	}
}

// A method that would end the image while somebody looks at a value ends
// nothing: the value says so, and what is around it is shown.
func TestLookEndsNothing(t *testing.T) {
	t.Parallel()
	s := start(t)
	want(t, s, `(defclass quits () ((a :initform 1)))
(defmethod print-object ((q quits) stream) (sb-ext:exit :code 3))
(defvar *quits* (make-instance 'quits))
(defclass quitting-class (standard-class) ())
(defmethod sb-mop:validate-superclass ((class quitting-class) (super standard-class)) t)
(defclass read-and-quit () ((a :initform 1)) (:metaclass quitting-class))
(defmethod sb-mop:slot-value-using-class ((class quitting-class) object slot) (sb-ext:exit :code 3))
(defvar *read-and-quit* (make-instance 'read-and-quit))
:ok`, "=> :OK")
	pid := imagePID(t, s)
	r := call(t, s, patience, "evaluate-lisp", map[string]any{"code": "(defun look-at (local) (cerror \"on\" \"here\") local) (look-at *quits*)", "debug": 3, "on-error": "debug"})
	if !strings.Contains(r.Text(), "Evaluation 1 is suspended here") {
		t.Fatalf("not suspended:\n%s", r.Text())
	}
	refused := "#<printing it failed: it asked the Lisp image to end>"
	for _, c := range []struct {
		tool  string
		args  map[string]any
		isErr bool
		part  string
	}{
		{"describe-symbol", map[string]any{"name": "*quits*"}, false, "Value: " + refused},
		{"list-definitions", map[string]any{"type": "variables"}, false, "*QUITS* = " + refused},
		{"complete-symbol", map[string]any{"prefix": "*quit"}, false, "*quits*"},
		{"inspect-object", map[string]any{"code": "(list 1 *quits* 3)"}, false, "1: " + refused + "\n2: 3"},
		{"inspect-object", map[string]any{"handle": "obj-1", "path": "1"}, false, "0 A: 1"},
		{"inspect-object", map[string]any{"code": "*read-and-quit*"}, true, "[ERROR] EXIT-REFUSED"},
		{"inspect-object", map[string]any{"handle": "obj-2"}, true, "[ERROR] EXIT-REFUSED\nA method of the program's that the look-up called asked the Lisp image to end. It is not ended."},
		{"list-threads", map[string]any{"backtraces": true}, false, "swank-mcp session"},
		{"inspect-frame", map[string]any{"frame": 0, "evaluation": 1}, false, "LOCAL = " + refused},
		{"evaluate-in-frame", map[string]any{"code": "local", "frame": 0, "evaluation": 1}, false, "=> #<QUITS, printing it failed: it asked the Lisp image to end>"},
		{"abort-evaluation", map[string]any{"evaluation": 1}, false, "Evaluation 1 is aborted"},
	} {
		if r := call(t, s, patience, c.tool, c.args); r.IsError != c.isErr || !strings.Contains(r.Text(), c.part) {
			t.Errorf("%s %v: isError %v, want %q in\n%s", c.tool, c.args, r.IsError, c.part, r.Text())
		}
	}
	if now := imagePID(t, s); now != pid {
		t.Errorf("the image was %d and is %d", pid, now)
	}
}
