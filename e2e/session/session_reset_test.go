package session

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

func itoa(n int) string { return strconv.Itoa(n) }

// kept tells of what stays in a person's image, where nothing is uninterned and
// no use-list touched: a package that another one uses, a global variable.
var kept = regexp.MustCompile(`\n; Not undone: (package \S+: [^\n]* uses? it|variable [^\n]*ALWAYS-BOUND[^\n]*)`)

// isReset reports whether text tells of a reset without a problem. In a person's
// image it also says what is left there.
func isReset(text string) bool {
	if *harness.AttachedFlag {
		text, _, _ = strings.Cut(text, "\n; The image is not ours: ")
		text = kept.ReplaceAllString(text, "")
	}
	return text == harness.ResetText
}

func wantReset(t *testing.T, s *harness.Server) {
	t.Helper()
	r := harness.Call(t, s, "reset-session", harness.Object{})
	if r.IsError || !isReset(r.Text()) {
		t.Errorf("reset-session answered (isError %v):\n%s\nwant:\n%s", r.IsError, r.Text(), harness.ResetText)
	}
}

// What a session defined in a loaded system's package goes, too, and the names
// are free again.
func TestResetInAForeignPackage(t *testing.T) {
	t.Parallel()
	s := harness.WithSystems(t)
	harness.Load(t, s, "swt-good")
	const defined = `(let ((names '())) (do-symbols (s :swt-good (sort names #'string<)) (when (and (eq (symbol-package s) (find-package :swt-good)) (or (fboundp s) (boundp s) (find-class s nil))) (push (symbol-name s) names))))`
	before, _ := harness.Eval(t, s, defined)
	harness.Want(t, s, `(defun swt-good::f () 1) (defvar swt-good::*v* 1) (defconstant swt-good::+k+ 1)
(defclass swt-good::c () ()) (setf swt-good::loose 1) (defmethod print-object ((o swt-good::c) s) (write-string "c" s)) :ok`, "=> :OK")
	wantReset(t, s)
	harness.Want(t, s, defined, before)
	harness.Want(t, s, "(defconstant swt-good::+k+ 2) swt-good::+k+", "=> 2")
	harness.Want(t, s, "(swt-good:answer)", "=> 42")
}

// A loaded system stays, also what it has in COMMON-LISP-USER; so does one that
// an evaluation has loaded.
func TestResetKeepsLoadedSystems(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"load-system", "evaluation"} {
		t.Run(how, func(t *testing.T) {
			s := harness.WithSystems(t)
			if how == "load-system" {
				harness.Load(t, s, "swt-redefine")
			} else {
				harness.WantRuns(t, s, `(require :asdf) (asdf:load-system "swt-redefine")`)
			}
			wantReset(t, s)
			harness.Want(t, s, "(list (swt-function) (swt-only-in-the-file) (swt-generic 1))", "=> (:FILE :FILE :FILE)")
			harness.Want(t, s, "(defun mine () (swt-function)) (mine)", "=> :FILE")
			wantReset(t, s)
			harness.Want(t, s, "(list (fboundp 'mine) (swt-function))", "=> (NIL :FILE)")
			if *harness.AttachedFlag {
				return // nothing is brought back to a person's image
			}
			harness.Kill9(t, s)
			harness.Want(t, s, "(list (fboundp 'mine) (swt-function))", "=> (NIL :FILE)\n…")
		})
	}
}

func TestResetFreesNames(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	for _, c := range []struct{ name, first, second, text string }{
		{"constant", "(defconstant +z+ 1)", "(defconstant +z+ 10) +z+", "=> 10"},
		{"constant of another type", "(defconstant +z+ 1) (defun f () +z+)", "(defconstant +z+ :other) (defun f () +z+) (f)", "=> :OTHER"},
		{"constant of an own package", "(defpackage :own (:use :cl)) (defconstant own::+c+ 1)", "(defpackage :own (:use :cl)) (defconstant own::+c+ 2) own::+c+", "=> 2"},
		{"class", "(defclass point () ((x :initform 1))) (make-instance 'point)", "(defclass point () ((y :initform 2))) (list (slot-value (make-instance 'point) 'y) (slot-exists-p (make-instance 'point) 'x))", "=> (2 NIL)"},
		{"structure", "(defstruct s a b)", "(defstruct s c) (s-c (make-s :c 3))", "=> 3"},
		{"structure becomes a class", "(defstruct s a b)", "(defclass s () ((z :initform 9))) (slot-value (make-instance 's) 'z)", "=> 9"},
		{"class becomes a condition", "(defclass s () ())", "(define-condition s (error) ()) (subtypep 's 'error)", "=> T\n=> T"},
		{"special becomes lexical", "(defvar v 1)", "(let ((v 2)) (list v (boundp 'v)))", "=> (2 NIL)"},
		{"symbol macro becomes a variable", "(define-symbol-macro v 1)", "(defvar v 2) v", "=> 2"},
		{"variable becomes a symbol macro", "(defvar v 1)", "(define-symbol-macro v 2) v", "=> 2"},
		{"macro becomes a function", "(defmacro f (x) x)", "(defun f (x) (list x)) (funcall #'f 1)", "=> (1)"},
		{"function becomes generic", "(defun f (x) x)", "(defgeneric f (x y)) (defmethod f (x y) (list x y)) (f 1 2)", "=> (1 2)"},
		{"generic gets another lambda list", "(defgeneric f (x)) (defmethod f ((x integer)) x)", "(defgeneric f (x y)) (defmethod f (x y) (list x y)) (f 1 2)", "=> (1 2)"},
		{"ftype", "(declaim (ftype (function (integer) integer) f)) (defun f (x) x)", "(defun f (x) (list x)) (f :a)", "=> (:A)"},
		{"type of a variable", "(declaim (type integer v)) (defvar v 1)", "(defvar v :k) v", "=> :K"},
		{"type", "(deftype ty () 'integer)", "(deftype ty () 'symbol) (typep :k 'ty)", "=> T"},
		{"type becomes a class", "(deftype ty () 'integer)", "(defclass ty () ()) (typep 1 'ty)", "=> NIL"},
		{"package with other exports", "(defpackage :own (:use :cl) (:export #:a #:b))", "(defpackage :own (:use :cl) (:export #:b)) (nth-value 1 (find-symbol \"A\" :own))", "=> NIL"},
		{"packages that use each other", "(defpackage :pa (:export #:x)) (defpackage :pb (:use :pa) (:export #:y)) (use-package :pb :pa)", "(list (find-package :pa) (find-package :pb))", "=> (NIL NIL)"},
		{"local nickname", "(defpackage :pa (:use :cl)) (defpackage :pb (:use :cl) (:local-nicknames (:a :pa)))", "(find-package :pa)", "=> NIL"},
		{"package used by another's name", "(defpackage :own (:use :cl)) (rename-package :own :renamed '(:nick))", "(list (find-package :own) (find-package :renamed) (find-package :nick))", "=> (NIL NIL NIL)"},
		{"method on a function of its own", "(defmethod area ((x integer)) x)", "(fboundp 'area)", "=> NIL"},
		{"documentation", "(defun f () \"doc\" 1)", "(documentation 'f 'function)", "=> NIL"},
		{"property list", "(setf (get 'p :k) 1)", "(get 'p :k)", "=> NIL"},
		{"undefined variable is unbound", "(defvar *counter* 0) (incf *counter*)", "(boundp '*counter*)", "=> NIL"},
	} {
		t.Run(c.name, func(t *testing.T) {
			harness.WantRuns(t, s, c.first)
			wantReset(t, s)
			harness.Want(t, s, c.second, c.text)
			wantReset(t, s)
		})
	}
	harness.Want(t, s, "(defvar *counter* 0) (incf *counter*)", "=> 1")
	wantReset(t, s)
	harness.WantError(t, s, "*counter*", "[ERROR] UNBOUND-VARIABLE\nThe variable *COUNTER* is unbound.")
}

func TestResetOfNothing(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	wantReset(t, s) // before any evaluation
	harness.Want(t, s, "(+ 1 2)", "=> 3")
	wantReset(t, s)
	wantReset(t, s)
	harness.WantList(t, s, harness.Object{}, "No user definitions.")
	harness.Want(t, s, "(list * (package-name *package*))", `=> (NIL "COMMON-LISP-USER")`)
	harness.WantReply(t, s, "reset-session", harness.Object{"all": true}, "[ERROR] INVALID-ARGUMENTS\nreset-session has no argument \"all\".…")
}

func TestResetWaitsItsTurn(t *testing.T) {
	tier.More(t)
	t.Parallel()
	s := harness.Start(t)
	gate := await.NewGate(t)
	p := harness.SendCall(t, s, "(progn (defvar *late* 1) "+gate.Wait()+" (defun late () *late*) (late))")
	gate.Reached(s)
	reset := harness.SendTool(t, s, "reset-session", harness.Object{})
	after := harness.SendCall(t, s, "(list (boundp '*late*) (fboundp 'late))")
	harness.Status(t, s) // is asked for later, and answered
	if s.Answers()[reset.ID.String()] > 0 {
		t.Error("the reset did not wait")
	}
	gate.Open()
	if r := harness.Answer(t, reset); r.IsError || !isReset(r.Text()) {
		t.Errorf("the reset answered:\n%s", r.Text())
	}
	harness.WantAnswer(t, p, "=> 1")
	harness.WantAnswer(t, after, "=> (NIL NIL)")
}

// What was awry in the session goes with it: its package may be gone, its
// printer broken.
func TestResetOfABrokenSession(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	for _, code := range []string{
		"(defpackage :doomed (:use :cl)) (in-package :doomed) (delete-package :doomed)",
		"(defclass nasty () ()) (defmethod print-object ((n nasty) s) (error \"no\")) (defvar *n* (make-instance 'nasty))",
		"(setf *readtable* (copy-readtable nil)) (setf *read-base* 36)",
		"(defpackage :empty (:use)) (in-package :empty)",
		"(in-package :keyword)",
		"(defclass meta (standard-class) ()) (defmethod sb-mop:validate-superclass ((a meta) (b standard-class)) t) (defclass inst () () (:metaclass meta))",
		"(defun f () (1+ (f))) (f)",
	} {
		harness.Eval(t, s, code)
		wantReset(t, s)
		harness.Want(t, s, "(list (package-name *package*) (+ 10 1) (find-symbol \"NASTY\"))", `=> ("COMMON-LISP-USER" 11 NIL)`)
	}
}
