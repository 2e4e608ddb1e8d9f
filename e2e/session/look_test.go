package session

import (
	"strings"
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/tier"
)

// Each error of a look-up ends with a call that works.
func TestLookNextCalls(t *testing.T) {
	tier.More(t)
	t.Parallel()
	s := harness.Start(t)
	harness.Want(t, s, `(defpackage :shapes (:use :cl) (:export #:area)) (defun shapes:area (x) x) (defun shapes::hidden (x) (shapes:area x)) (defvar |mixedCase| 1) (defun measure (x) x) :ok`, "=> :OK")
	for _, c := range []struct {
		tool string
		args map[string]any
		next string // of the call that is suggested
	}{
		{"describe-symbol", harness.Object{"name": "shapes:hidden"}, `describe-symbol {"name": "SHAPES::HIDDEN"}`},
		{"describe-symbol", harness.Object{"name": "shaeps:area"}, `describe-symbol {"name": "SHAPES:AREA"}`},
		{"describe-symbol", harness.Object{"name": "mesure"}, `describe-symbol {"name": "COMMON-LISP-USER::MEASURE"}`},
		{"describe-symbol", harness.Object{"name": "mixedcase"}, `describe-symbol {"name": "COMMON-LISP-USER::|mixedCase|"}`},
		{"describe-symbol", harness.Object{"name": "area"}, `describe-symbol {"name": "SHAPES:AREA"}`},
		{"describe-symbol", harness.Object{"name": "no-such-thing-anywhere"}, `apropos-search {"pattern": "no-such-thing-anywhere"}`},
		{"describe-symbol", harness.Object{"name": "two words"}, `apropos-search {"pattern": "two words"}`},
		{"describe-symbol", harness.Object{"name": "(setf no-such-place)"}, `apropos-search {"pattern": "no-such-place"}`},
		{"describe-symbol", harness.Object{"name": "a:b:c"}, ""},
		{"describe-symbol", harness.Object{"name": "car", "package": "no-such-package"}, ""},
		{"describe-symbol", harness.Object{"name": ""}, ""},
		{"describe-symbol", harness.Object{}, ""},
		{"describe-symbol", harness.Object{"nmae": "car"}, ""},
		{"find-definition", harness.Object{"name": "shapes:hidden"}, `find-definition {"name": "SHAPES::HIDDEN"}`},
		{"find-definition", harness.Object{"name": "mapcarr"}, `find-definition {"name": "COMMON-LISP:MAPCAR"}`},
		{"cross-reference", harness.Object{"name": "shapes:hidden", "kind": "calls"}, `cross-reference {"name": "SHAPES::HIDDEN", "kind": "calls"}`},
		{"cross-reference", harness.Object{"name": "car", "kind": "users"}, ""},
		{"cross-reference", harness.Object{"name": "car", "limit": 0}, ""},
		{"apropos-search", harness.Object{"pattern": "x", "package": "shaps"}, ""},
		{"apropos-search", harness.Object{"pattern": "  "}, ""},
		{"apropos-search", harness.Object{"pattern": "x", "kind": "methods"}, ""},
		{"complete-symbol", harness.Object{"prefix": "shaps:ar"}, ""},
		{"complete-symbol", harness.Object{"prefix": "car", "limit": "many"}, ""},
		{"describe-system", harness.Object{"system": "alexandira"}, `describe-system {"system": "alexandria"}`},
		{"describe-system", harness.Object{"system": "no-such-system-anywhere"}, "describe-system {}"},
		{"hyperspec-lookup", harness.Object{"name": "mapcarr"}, `hyperspec-lookup {"name": "MAPCAR"}`},
		{"hyperspec-lookup", harness.Object{"name": "qqqqqqqq"}, `apropos-search {"pattern": "qqqqqqqq"}`},
	} {
		text := harness.Bad(t, s, c.tool, c.args)
		if c.next != "" {
			harness.Says(t, text+"\n", "\nNext: "+c.next+"\n")
		}
		tool, args := nextCall(t, text)
		harness.Good(t, s, tool, args)
	}
}

// Looking interns nothing, makes no package, runs no macro character and
// changes no variable, whatever the names are.
func TestLookTouchesNothing(t *testing.T) {
	tier.More(t)
	t.Parallel()
	s := harness.Start(t)
	harness.Want(t, s, `(defvar *ran* 0)
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
			{"describe-symbol", harness.Object{"name": seen + "-1"}},
			{"describe-symbol", harness.Object{"name": "!x"}},
			{"describe-symbol", harness.Object{"name": "#.(incf *ran*)"}},
			{"describe-symbol", harness.Object{"name": "cl-user::" + seen + "-2"}},
			{"describe-symbol", harness.Object{"name": "no-package::" + seen + "-3"}},
			{"describe-symbol", harness.Object{"name": ":" + seen + "-4"}},
			{"describe-symbol", harness.Object{"name": "*ran*"}},
			{"describe-symbol", harness.Object{"name": "asdf"}},
			{"find-definition", harness.Object{"name": "census"}},
			{"find-definition", harness.Object{"name": "(setf " + seen + "-5)"}},
			{"cross-reference", harness.Object{"name": "*ran*"}},
			{"apropos-search", harness.Object{"pattern": seen + "-6 #.(incf *ran*)"}},
			{"complete-symbol", harness.Object{"prefix": seen + "-7"}},
			{"describe-system", harness.Object{"system": "alexandria"}},
			{"describe-system", harness.Object{}},
		} {
			harness.Call(t, s, c.tool, c.args)
		}
	}
	look("once") // for what SBCL makes when it is first used
	before, _ := harness.Eval(t, s, "(census)")
	look("again")
	if after, _ := harness.Eval(t, s, "(census)"); after != before || !strings.HasPrefix(before, "=> (") {
		t.Errorf("looking changed (symbols packages macro-characters-run) from %s to %s", before, after)
	}
	harness.Want(t, s, "*ran*", "=> 0")
}

// In a person's image what the person made is found as well, and looking
// leaves it as it was.
func TestLookAttached(t *testing.T) {
	tier.More(t)
	t.Parallel()
	p := harness.NewPerson(t, "(require :asdf) (defpackage :theirs (:use :cl) (:export #:greet))") // not every SLIME loads ASDF
	p.Says(`(defun theirs:greet (name) "Says hello." (list :hello name))`)
	p.Says("(defun theirs::greet-all (names) (mapcar #'theirs:greet names))")
	p.Says(`(defvar theirs::*names* '("Ann"))`)
	s := harness.Attached(t, p)
	harness.Want(t, s, "(defun mine (x) (theirs:greet x))", "=> MINE") // brings the helper's package
	packages := p.Says("(length (list-all-packages))")
	for _, c := range []struct {
		tool string
		args map[string]any
		part string
	}{
		{"describe-symbol", harness.Object{"name": "theirs:greet"}, "Documentation: Says hello."},
		{"describe-symbol", harness.Object{"name": "theirs::*names*"}, `Value: ("Ann")`},
		{"apropos-search", harness.Object{"pattern": "greet"}, "- THEIRS:GREET function (NAME)"},
		{"complete-symbol", harness.Object{"prefix": "theirs::gre"}, "- theirs::greet-all"},
		{"cross-reference", harness.Object{"name": "theirs:greet", "kind": "called-by"}, "- MINE, this session"},
		{"find-definition", harness.Object{"name": "mine"}, "(defun mine (x) (theirs:greet x))"},
		{"describe-system", harness.Object{"system": "alexandria"}, "alexandria.asd"},
	} {
		harness.WantReply(t, s, c.tool, c.args, harness.Elided+c.part+harness.Elided)
	}
	p.Wants("(length (list-all-packages))", packages)
}

// A value whose printing never ends costs list-definitions half a second, and
// session-status and the end of an evaluation nothing.
func TestLookPrintingNeverEnds(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	harness.Want(t, s, `(defclass endless () ()) (defmethod print-object ((e endless) stream) (loop)) (defvar *endless* (make-instance 'endless)) (defvar *fine* 1) :ok`, "=> :OK")
	harness.WantList(t, s, harness.Object{"type": "variables"}, "[Variables]\n- *ENDLESS* = #<printing it takes too long>\n- *FINE* = 1")
	harness.Says(t, harness.Status(t, s), "2 variables")
}

// A PRINT-OBJECT method that calls EXIT does not end the image during a look-up: the
// reply says so in place of the value, and shows the rest.
func TestLookEndsNothing(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	harness.Want(t, s, `(defclass quits () ((a :initform 1)))
(defmethod print-object ((q quits) stream) (sb-ext:exit :code 3))
(defvar *quits* (make-instance 'quits))
(defclass quitting-class (standard-class) ())
(defmethod sb-mop:validate-superclass ((class quitting-class) (super standard-class)) t)
(defclass read-and-quit () ((a :initform 1)) (:metaclass quitting-class))
(defmethod sb-mop:slot-value-using-class ((class quitting-class) object slot) (sb-ext:exit :code 3))
(defvar *read-and-quit* (make-instance 'read-and-quit))
:ok`, "=> :OK")
	pid := harness.ImagePID(t, s)
	harness.Says(t, harness.Bad(t, s, "evaluate-lisp", harness.Object{"code": "(defun look-at (local) (cerror \"on\" \"here\") local) (look-at *quits*)", "debug": 3, "on-error": "debug"}),
		"Evaluation 1 is suspended here")
	refused := "#<printing it failed: it asked the Lisp image to end>"
	for _, c := range []struct {
		tool string
		args harness.Object
		text string
	}{
		{"describe-symbol", harness.Object{"name": "*quits*"}, "…Value: " + refused + "…"},
		{"list-definitions", harness.Object{"type": "variables"}, "…*QUITS* = " + refused + "…"},
		{"complete-symbol", harness.Object{"prefix": "*quit"}, "…*quits*…"},
		{"inspect-object", harness.Object{"code": "(list 1 *quits* 3)"}, "…1: " + refused + "\n2: 3…"},
		{"inspect-object", harness.Object{"handle": "obj-1", "path": "1"}, "…0 A: 1…"},
		{"inspect-object", harness.Object{"code": "*read-and-quit*"}, "[ERROR] EXIT-REFUSED…"},
		{"inspect-object", harness.Object{"handle": "obj-2"}, "[ERROR] EXIT-REFUSED\nA method of the program's that the look-up called asked the Lisp image to end. It is not ended.…"},
		{"list-threads", harness.Object{"backtraces": true}, "…swank-mcp session…"},
		{"inspect-frame", harness.Object{"frame": 0, "evaluation": 1}, "…LOCAL = " + refused + "…"},
		{"evaluate-in-frame", harness.Object{"code": "local", "frame": 0, "evaluation": 1}, "…=> #<QUITS, printing it failed: it asked the Lisp image to end>…"},
		{"abort-evaluation", harness.Object{"evaluation": 1}, "…Evaluation 1 is aborted…"},
	} {
		harness.WantReply(t, s, c.tool, c.args, c.text)
	}
	harness.WantPID(t, s, pid)
}
