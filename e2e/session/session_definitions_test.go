package session

import (
	"strings"
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/tier"
)

// The session of the founding document, and its text. Names stand in the order
// of the alphabet, as the contract has it: FACTORIAL before SQUARE.
func TestListDefinitionsDocument(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	harness.WantList(t, s, harness.Object{}, "No user definitions.")
	harness.Want(t, s, "(defun square (x) (* x x))", "=> SQUARE")
	harness.Want(t, s, "(defun factorial (n) (if (<= n 1) 1 (* n (factorial (1- n)))))", "=> FACTORIAL")
	harness.Want(t, s, "(defvar *counter* 0)", "=> *COUNTER*")
	harness.Want(t, s, "(defparameter *debug-mode* nil)", "=> *DEBUG-MODE*")
	harness.Want(t, s, "(defmacro with-timing (&body body) `(time (progn ,@body)))", "=> WITH-TIMING")
	harness.Want(t, s, "(progn (defclass point () ((x :initarg :x) (y :initarg :y))) :ok)", "=> :OK")
	harness.Have(t, s, "cl-ppcre", "cl-ppcre")
	harness.Have(t, s, "alexandria", "cl-alexandria")
	harness.WantList(t, s, harness.Object{"type": "all"}, `[Functions]
- FACTORIAL (N)
- SQUARE (X)

[Variables]
- *COUNTER* = 0
- *DEBUG-MODE* = NIL

[Macros]
- WITH-TIMING (&BODY BODY)

[Classes]
- POINT

[Loaded Systems]
- ALEXANDRIA
- CL-PPCRE`)
	if all, none := harness.List(t, s, harness.Object{"type": "all"}), harness.List(t, s, harness.Object{}); all != none {
		t.Errorf("without type:\n%s\nwith type all:\n%s", none, all)
	}

	// Values are those of now, and a new definition replaces the old one.
	harness.Want(t, s, "(incf *counter*)", "=> 1")
	harness.Want(t, s, "(defun square (x &optional y) (list x y))", "=> SQUARE")
	harness.WantList(t, s, harness.Object{"type": "variables"}, "[Variables]\n- *COUNTER* = 1\n- *DEBUG-MODE* = NIL")
	harness.WantList(t, s, harness.Object{"type": "functions"}, "[Functions]\n- FACTORIAL (N)\n- SQUARE (X &OPTIONAL Y)")
	harness.WantList(t, s, harness.Object{"type": "systems"}, "[Loaded Systems]\n- ALEXANDRIA\n- CL-PPCRE")
}

// Each kind of definition alone in a session: the whole text.
func TestListDefinitionsKinds(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	for _, c := range []struct{ name, code, text string }{
		{"no parameters", "(defun f ())", "[Functions]\n- F ()"},
		{"all kinds of parameters", "(defun f (a &optional (b 1) &rest r) (list a b r))", "[Functions]\n- F (A &OPTIONAL (B 1) &REST R)"},
		{"keys", "(defun f (a &key (b 1 b-p) ((:c d) 2)) (list a b b-p d))", "[Functions]\n- F (A &KEY (B 1 B-P) ((:C D) 2))"},
		{"inside let", "(let ((n 0)) (defun next () (incf n)))", "[Functions]\n- NEXT ()"},
		{"inside a function", "(defun outer () (defun inner () 1)) (outer)", "[Functions]\n- INNER ()\n- OUTER ()"},
		{"setf", "(setf loose '(1 2))", "[Variables]\n- LOOSE = (1 2)"},
		{"setq of two", "(setq one 1 two 2)", "[Variables]\n- ONE = 1\n- TWO = 2"},
		{"setf inside progn", "(progn (setf loose 3))", "[Variables]\n- LOOSE = 3"},
		{"defglobal", "(sb-ext:defglobal **g** 7)", "[Variables]\n- **G** = 7"},
		{"unbound variable", "(defvar *unbound*)", "No user definitions."},
		{"value that cannot be printed",
			"(defclass nasty () ()) (defmethod print-object ((n nasty) s) (error \"no\")) (defvar *n* (make-instance 'nasty)) (setf *n* 3)",
			"[Variables]\n- *N* = 3\n\n[Classes]\n- NASTY\n\n[Generic Functions]\n- PRINT-OBJECT (OBJECT STREAM)\n  - (NASTY T)"},
		{"modify macro", "(define-modify-macro appendf (&rest lists) append)", "[Macros]\n- APPENDF (PLACE &REST LISTS)"},
		{"destructuring macro", "(defmacro m ((a b) &body body) `(list ,a ,b ,@body))", "[Macros]\n- M ((A B) &BODY BODY)"},
		{"generic function", "(defgeneric area (shape &key unit))", "[Generic Functions]\n- AREA (SHAPE &KEY UNIT)"},
		{"methods", `(defgeneric area (shape)) (defmethod area ((s integer)) s) (defmethod area :around ((s (eql 3))) (call-next-method))`,
			"[Generic Functions]\n- AREA (SHAPE)\n  - (INTEGER)\n  - :AROUND ((EQL 3))"},
		{"methods within defgeneric", "(defgeneric area (s) (:method ((s integer)) s))",
			"[Generic Functions]\n- AREA (S)\n  - (INTEGER)"},
		{"implicit generic function", "(defmethod grow ((n integer) by) (+ n by))", "[Generic Functions]\n- GROW (N BY)\n  - (INTEGER T)"},
		{"method on a foreign generic function",
			"(defclass shape () ()) (defmethod print-object ((s shape) stream) (write-string \"S\" stream))",
			"[Classes]\n- SHAPE\n\n[Generic Functions]\n- PRINT-OBJECT (OBJECT STREAM)\n  - (SHAPE T)"},
		{"setf function", "(defun (setf middle) (new list) (setf (second list) new))", "[Setf Functions]\n- (SETF MIDDLE) (NEW LIST)"},
		{"setf method", "(defmethod (setf deep) (new (place cons)) (setf (car place) new))",
			"[Generic Functions]\n- (SETF DEEP) (NEW PLACE)\n  - (T CONS)"},
		{"structure", "(defstruct node left (right nil))", "[Structures]\n- NODE (LEFT RIGHT)"},
		{"structure with options", "(defstruct (leaf (:conc-name l-) (:copier nil)) value)", "[Structures]\n- LEAF (VALUE)"},
		{"condition", "(define-condition oops (error) ((what :initarg :what :reader oops-what)))", "[Conditions]\n- OOPS"},
		{"type", "(deftype octet () '(unsigned-byte 8))", "[Types]\n- OCTET"},
		{"symbol macro", "(define-symbol-macro now (get-universal-time))", "[Symbol Macros]\n- NOW = (GET-UNIVERSAL-TIME)"},
		{"constant", "(defconstant +limit+ 3)", "[Constants]\n- +LIMIT+ = 3"},
		{"package", "(defpackage :geo (:use :cl))", "[Packages]\n- GEO"},
		{"make-package", "(make-package \"MADE\" :use nil)", "[Packages]\n- MADE"},
		{"user macro that defines", "(defmacro deftwice (n) `(progn (defun ,n (x) (* 2 x)) (defvar ,(intern (format nil \"*~A*\" n)) 1))) (deftwice dbl)",
			"[Functions]\n- DBL (X)\n\n[Variables]\n- *DBL* = 1\n\n[Macros]\n- DEFTWICE (N)"},
		{"several packages",
			"(defpackage :geo (:use :cl) (:export #:dist)) (in-package :geo) (defun dist (a b) (- a b)) (defun hidden (x) x) (defvar *h* :k)",
			"[Functions]\n- GEO::HIDDEN (X)\n- GEO:DIST (A B)\n\n[Variables]\n- GEO::*H* = :K\n\n[Packages]\n- GEO"},
		{"lower-case names", "(defun |low| (|arg|) |arg|)", "[Functions]\n- |low| (|arg|)"},
		{"fmakunbound", "(defun f ()) (defun g ()) (fmakunbound 'f)", "[Functions]\n- G ()"},
		{"makunbound", "(defvar *a* 1) (defvar *b* 2) (makunbound '*a*)", "[Variables]\n- *B* = 2"},
		{"deleted package", "(defpackage :geo (:use :cl)) (defun geo::f ()) (delete-package :geo)", "No user definitions."},
		{"unintern", "(defun f ()) (unintern 'f)", "No user definitions."},
		{"class without a name", "(defclass c () ()) (setf (find-class 'c) nil)", "No user definitions."},
		{"function becomes a macro", "(defun f (x) x) (defmacro f (y) y)", "[Macros]\n- F (Y)"},
		{"remove-method", "(defgeneric g (x)) (defmethod g ((x integer)) x) (remove-method #'g (find-method #'g () (list (find-class 'integer))))",
			"[Generic Functions]\n- G (X)"},
		{"a value of many lines and characters", `(defvar *text* (format nil "line~%two ~A" (make-string 100 :initial-element #\x)))`, ""},
		{"form that fails", "(defun before ()) (error \"x\") (defun after ())", "[Functions]\n- BEFORE ()"},
		{"defun that is only quoted", "'(defun not-defined ()) (list '(defvar *no* 1))", "No user definitions."},
	} {
		t.Run(c.name, func(t *testing.T) {
			harness.Eval(t, s, c.code)
			got := harness.List(t, s, harness.Object{})
			if c.text != "" && got != c.text {
				t.Errorf("after %s\n got:\n%s\nwant:\n%s", c.code, got, c.text)
			}
			if c.text == "" {
				lines := strings.Split(got, "\n")
				if len(lines) != 2 || !strings.HasPrefix(lines[1], `- *TEXT* = "line two xxx`) || !strings.HasSuffix(lines[1], "...") {
					t.Errorf("a long value:\n%s", got)
				} else if value := strings.TrimPrefix(lines[1], "- *TEXT* = "); len(value) > 80+3 || len(value) < 70 {
					t.Errorf("the value is shown with %d characters, want about 80: %s", len(value), value)
				}
			}
			wantReset(t, s)
		})
	}
}

func TestListDefinitionsArguments(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	harness.Want(t, s, `(defpackage :geometry (:use :cl) (:nicknames :geo) (:export #:dist))
(defun geometry:dist (a b) (- a b)) (defun (setf geometry::far) (v x) (setf (car x) v)) (defgeneric geometry::area (s)) (defmethod geometry::area ((s integer)) s)
(defun f (x) x) (defvar *v* 1) (defclass c () ()) (defconstant +k+ 1) (defstruct st a) (define-symbol-macro sm 1) :ok`, "=> :OK")
	for typ, text := range map[string]string{
		"functions":         "[Functions]\n- F (X)\n- GEOMETRY:DIST (A B)",
		"function":          "[Functions]\n- F (X)\n- GEOMETRY:DIST (A B)",
		"FUNCTION":          "[Functions]\n- F (X)\n- GEOMETRY:DIST (A B)",
		"variable":          "[Variables]\n- *V* = 1",
		"macro":             "No user definitions.",
		"class":             "[Classes]\n- C",
		"classes":           "[Classes]\n- C",
		"system":            "No user definitions.",
		"constant":          "[Constants]\n- +K+ = 1",
		"structure":         "[Structures]\n- ST (A)",
		"condition":         "No user definitions.",
		"type":              "No user definitions.",
		"package":           "[Packages]\n- GEOMETRY",
		"symbol-macro":      "[Symbol Macros]\n- SM = 1",
		"symbol_macros":     "[Symbol Macros]\n- SM = 1",
		"setf-function":     "[Setf Functions]\n- (SETF GEOMETRY::FAR) (V X)",
		"generic-function":  "[Generic Functions]\n- GEOMETRY::AREA (S)\n  - (INTEGER)",
		"Generic Functions": "[Generic Functions]\n- GEOMETRY::AREA (S)\n  - (INTEGER)",
	} {
		harness.WantList(t, s, harness.Object{"type": typ}, text)
	}

	const geometry = "[Functions]\n- GEOMETRY:DIST (A B)\n\n[Generic Functions]\n- GEOMETRY::AREA (S)\n  - (INTEGER)\n\n[Setf Functions]\n- (SETF GEOMETRY::FAR) (V X)"
	for _, name := range []string{"GEOMETRY", "geometry", "geo", "GEO"} {
		harness.WantList(t, s, harness.Object{"package": name}, geometry)
	}
	for _, name := range []string{"cl-user", "COMMON-LISP-USER"} {
		harness.WantList(t, s, harness.Object{"package": name, "type": "functions"}, "[Functions]\n- F (X)")
	}
	harness.WantList(t, s, harness.Object{"package": "geometry", "type": "classes"}, "No user definitions.")

	// A failed look-up never reads like an empty result.
	harness.Says(t, harness.List(t, s, harness.Object{"package": "geometri"}), `The name "GEOMETRI" does not designate any package.`, "GEOMETRY")
	harness.WantList(t, s, harness.Object{"type": "functoins"}, `[ERROR] …type is "functoins"; valid: all, functions, variables, macros, classes, systems, …`)
	harness.Says(t, harness.Bad(t, s, "list-definitions", harness.Object{"kind": "all"}), `no argument "kind"`, "type, package")
}

// A file that redefines a name owns the definition, whoever loads the file.
func TestListDefinitionsRedefinedByAFile(t *testing.T) {
	t.Parallel()
	const ours = `(defun swt-function () :session) (defmacro swt-macro () :session) (defclass swt-class () (session))
(defgeneric swt-generic (x)) (defmethod swt-generic ((x integer)) :session) (defun swt-kept () 1) :ok`
	file := harness.Testdata("systems", "redefine.lisp")
	for _, how := range []struct{ name, code string }{
		{"source", `(load "` + file + `")`},
		{"fasl", `(load (compile-file "` + file + `" :output-file "` + t.TempDir() + `/redefine.fasl"))`},
	} {
		t.Run(how.name, func(t *testing.T) {
			s := harness.Start(t)
			harness.Want(t, s, ours, "=> :OK")
			harness.WantRuns(t, s, how.code)
			harness.Want(t, s, "(list (swt-function) (swt-macro) (swt-generic 1))", "=> (:FILE :FILE :FILE)")
			// what the session's code loads is the session's, as if it were its code
			const others = "\n\n[Macros]\n- SWT-MACRO ()\n\n[Classes]\n- SWT-CLASS\n\n[Generic Functions]\n- SWT-GENERIC (X)\n  - (INTEGER)"
			harness.WantList(t, s, harness.Object{}, "[Functions]\n- SWT-FUNCTION ()\n- SWT-KEPT ()\n- SWT-ONLY-IN-THE-FILE ()"+others)
			harness.Want(t, s, "(defun swt-function (again) again)", "=> SWT-FUNCTION")
			harness.WantList(t, s, harness.Object{}, "[Functions]\n- SWT-FUNCTION (AGAIN)\n- SWT-KEPT ()\n- SWT-ONLY-IN-THE-FILE ()"+others)
		})
	}
	t.Run("load-system", func(t *testing.T) {
		s := harness.WithSystems(t)
		harness.Want(t, s, ours, "=> :OK")
		harness.Load(t, s, "swt-redefine")
		harness.Want(t, s, "(list (swt-function) (swt-macro) (swt-generic 1))", "=> (:FILE :FILE :FILE)")
		harness.WantList(t, s, harness.Object{}, "[Functions]\n- SWT-KEPT ()\n\n[Loaded Systems]\n- SWT-REDEFINE")
	})
}

// A system counts as loaded however the session loads it; what it needs does not.
func TestListDefinitionsSystemLoadedByCode(t *testing.T) {
	t.Parallel()
	s := harness.WithSystems(t)
	harness.WantRuns(t, s, `(require :asdf) (asdf:load-system "swt-alias")`)
	harness.WantList(t, s, harness.Object{}, "[Loaded Systems]\n- SWT-ALIAS")
}

// list-definitions answers while an evaluation runs.
func TestListDefinitionsMeanwhile(t *testing.T) {
	tier.More(t)
	t.Parallel()
	s := harness.Start(t)
	harness.Want(t, s, "(defun f (x) x)", "=> F")
	p := harness.Running(t, s, "(progn (sleep 1.5) :slept)")
	harness.WantList(t, s, harness.Object{}, "[Functions]\n- F (X)")
	harness.WantAnswer(t, p, "=> :SLEPT")
}
