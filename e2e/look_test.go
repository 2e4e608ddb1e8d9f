package e2e

import (
	"strings"
	"testing"

	"swank-mcp/internal/tier"
)

// Each error of a look-up ends with a call that works.
func TestLookNextCalls(t *testing.T) {
	tier.More(t)
	t.Parallel()
	s := start(t)
	want(t, s, `(defpackage :shapes (:use :cl) (:export #:area)) (defun shapes:area (x) x) (defun shapes::hidden (x) (shapes:area x)) (defvar |mixedCase| 1) (defun measure (x) x) :ok`, "=> :OK")
	for _, c := range []struct {
		tool string
		args map[string]any
		next string // of the call that is suggested
	}{
		{"describe-symbol", object{"name": "shapes:hidden"}, `describe-symbol {"name": "SHAPES::HIDDEN"}`},
		{"describe-symbol", object{"name": "shaeps:area"}, `describe-symbol {"name": "SHAPES:AREA"}`},
		{"describe-symbol", object{"name": "mesure"}, `describe-symbol {"name": "COMMON-LISP-USER::MEASURE"}`},
		{"describe-symbol", object{"name": "mixedcase"}, `describe-symbol {"name": "COMMON-LISP-USER::|mixedCase|"}`},
		{"describe-symbol", object{"name": "area"}, `describe-symbol {"name": "SHAPES:AREA"}`},
		{"describe-symbol", object{"name": "no-such-thing-anywhere"}, `apropos-search {"pattern": "no-such-thing-anywhere"}`},
		{"describe-symbol", object{"name": "two words"}, `apropos-search {"pattern": "two words"}`},
		{"describe-symbol", object{"name": "(setf no-such-place)"}, `apropos-search {"pattern": "no-such-place"}`},
		{"describe-symbol", object{"name": "a:b:c"}, ""},
		{"describe-symbol", object{"name": "car", "package": "no-such-package"}, ""},
		{"describe-symbol", object{"name": ""}, ""},
		{"describe-symbol", object{}, ""},
		{"describe-symbol", object{"nmae": "car"}, ""},
		{"find-definition", object{"name": "shapes:hidden"}, `find-definition {"name": "SHAPES::HIDDEN"}`},
		{"find-definition", object{"name": "mapcarr"}, `find-definition {"name": "COMMON-LISP:MAPCAR"}`},
		{"cross-reference", object{"name": "shapes:hidden", "kind": "calls"}, `cross-reference {"name": "SHAPES::HIDDEN", "kind": "calls"}`},
		{"cross-reference", object{"name": "car", "kind": "users"}, ""},
		{"cross-reference", object{"name": "car", "limit": 0}, ""},
		{"apropos-search", object{"pattern": "x", "package": "shaps"}, ""},
		{"apropos-search", object{"pattern": "  "}, ""},
		{"apropos-search", object{"pattern": "x", "kind": "methods"}, ""},
		{"complete-symbol", object{"prefix": "shaps:ar"}, ""},
		{"complete-symbol", object{"prefix": "car", "limit": "many"}, ""},
		{"describe-system", object{"system": "alexandira"}, `describe-system {"system": "alexandria"}`},
		{"describe-system", object{"system": "no-such-system-anywhere"}, "describe-system {}"},
		{"hyperspec-lookup", object{"name": "mapcarr"}, `hyperspec-lookup {"name": "MAPCAR"}`},
		{"hyperspec-lookup", object{"name": "qqqqqqqq"}, `apropos-search {"pattern": "qqqqqqqq"}`},
	} {
		text := bad(t, s, c.tool, c.args)
		if c.next != "" {
			says(t, text+"\n", "\nNext: "+c.next+"\n")
		}
		tool, args := nextCall(t, text)
		good(t, s, tool, args)
	}
}

// Looking interns nothing, makes no package, runs no macro character and
// changes no variable, whatever the names are.
func TestLookTouchesNothing(t *testing.T) {
	tier.More(t)
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
			{"describe-symbol", object{"name": seen + "-1"}},
			{"describe-symbol", object{"name": "!x"}},
			{"describe-symbol", object{"name": "#.(incf *ran*)"}},
			{"describe-symbol", object{"name": "cl-user::" + seen + "-2"}},
			{"describe-symbol", object{"name": "no-package::" + seen + "-3"}},
			{"describe-symbol", object{"name": ":" + seen + "-4"}},
			{"describe-symbol", object{"name": "*ran*"}},
			{"describe-symbol", object{"name": "asdf"}},
			{"find-definition", object{"name": "census"}},
			{"find-definition", object{"name": "(setf " + seen + "-5)"}},
			{"cross-reference", object{"name": "*ran*"}},
			{"apropos-search", object{"pattern": seen + "-6 #.(incf *ran*)"}},
			{"complete-symbol", object{"prefix": seen + "-7"}},
			{"describe-system", object{"system": "alexandria"}},
			{"describe-system", object{}},
		} {
			call(t, s, c.tool, c.args)
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
	tier.More(t)
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
		{"describe-symbol", object{"name": "theirs:greet"}, "Documentation: Says hello."},
		{"describe-symbol", object{"name": "theirs::*names*"}, `Value: ("Ann")`},
		{"apropos-search", object{"pattern": "greet"}, "- THEIRS:GREET function (NAME)"},
		{"complete-symbol", object{"prefix": "theirs::gre"}, "- theirs::greet-all"},
		{"cross-reference", object{"name": "theirs:greet", "kind": "called-by"}, "- MINE, this session"},
		{"find-definition", object{"name": "mine"}, "(defun mine (x) (theirs:greet x))"},
		{"describe-system", object{"system": "alexandria"}, "alexandria.asd"},
	} {
		wantReply(t, s, c.tool, c.args, elided+c.part+elided)
	}
	p.wants("(length (list-all-packages))", packages)
}

// A value whose printing never ends costs list-definitions half a second, and
// session-status and the end of an evaluation nothing.
func TestLookPrintingNeverEnds(t *testing.T) {
	t.Parallel()
	s := start(t)
	want(t, s, `(defclass endless () ()) (defmethod print-object ((e endless) stream) (loop)) (defvar *endless* (make-instance 'endless)) (defvar *fine* 1) :ok`, "=> :OK")
	wantList(t, s, object{"type": "variables"}, "[Variables]\n- *ENDLESS* = #<printing it takes too long>\n- *FINE* = 1")
	says(t, status(t, s), "2 variables")
}

// A PRINT-OBJECT method that calls EXIT does not end the image during a look-up: the
// reply says so in place of the value, and shows the rest.
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
	says(t, bad(t, s, "evaluate-lisp", object{"code": "(defun look-at (local) (cerror \"on\" \"here\") local) (look-at *quits*)", "debug": 3, "on-error": "debug"}),
		"Evaluation 1 is suspended here")
	refused := "#<printing it failed: it asked the Lisp image to end>"
	for _, c := range []struct {
		tool string
		args object
		text string
	}{
		{"describe-symbol", object{"name": "*quits*"}, "…Value: " + refused + "…"},
		{"list-definitions", object{"type": "variables"}, "…*QUITS* = " + refused + "…"},
		{"complete-symbol", object{"prefix": "*quit"}, "…*quits*…"},
		{"inspect-object", object{"code": "(list 1 *quits* 3)"}, "…1: " + refused + "\n2: 3…"},
		{"inspect-object", object{"handle": "obj-1", "path": "1"}, "…0 A: 1…"},
		{"inspect-object", object{"code": "*read-and-quit*"}, "[ERROR] EXIT-REFUSED…"},
		{"inspect-object", object{"handle": "obj-2"}, "[ERROR] EXIT-REFUSED\nA method of the program's that the look-up called asked the Lisp image to end. It is not ended.…"},
		{"list-threads", object{"backtraces": true}, "…swank-mcp session…"},
		{"inspect-frame", object{"frame": 0, "evaluation": 1}, "…LOCAL = " + refused + "…"},
		{"evaluate-in-frame", object{"code": "local", "frame": 0, "evaluation": 1}, "…=> #<QUITS, printing it failed: it asked the Lisp image to end>…"},
		{"abort-evaluation", object{"evaluation": 1}, "…Evaluation 1 is aborted…"},
	} {
		wantReply(t, s, c.tool, c.args, c.text)
	}
	wantPID(t, s, pid)
}
