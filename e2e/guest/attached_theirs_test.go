package guest

import (
	"os"
	"path/filepath"
	"testing"

	"swank-mcp/e2e/harness"
)

// When the agent redefines something of the person's, the reply says so; a reset puts
// the old definition back, or leaves the new one and says so.
func TestAttachedRedefines(t *testing.T) {
	t.Parallel()
	p := harness.NewPerson(t, "")
	file := filepath.Join(harness.ShortDir(t), "theirs.lisp")
	if err := os.WriteFile(file, []byte(`
(defun their-function (x) "Theirs." (list :theirs x))
(defun (setf their-place) (v x) (list v x))
(defmacro their-macro (x) (list 'list :theirs x))
(defvar *their-variable* (list 1 2) "Their words.")
(defvar *their-unbound*)
(defparameter *their-parameter* 5)
(define-compiler-macro their-function (&whole form x) (declare (ignore x)) form)
(defgeneric their-generic (x) (:method ((x integer)) :theirs) (:method ((x string)) :string))
(defclass their-class () ((a :initform 1 :accessor their-a)))
(defun becomes-macro () :function)
(defun is-replaced-by-them () 1)
(defun twice-in-one () :theirs)
`), 0o600); err != nil {
		t.Fatal(err)
	}
	p.Says(`(load "` + file + `")`)
	p.Says(`(defparameter *before* (list #'their-function #'(setf their-place) (macro-function 'their-macro) *their-variable* (compiler-macro-function 'their-function)
  (find-method #'their-generic () (list (find-class 'integer))) (find-class 'their-class) #'becomes-macro #'twice-in-one))`)
	places := `(mapcar (lambda (name type) (format nil "~A" (sb-introspect:definition-source-form-path (first (sb-introspect:find-definition-sources-by-name name type)))))
  '(their-function their-macro *their-variable* *their-parameter*) '(:function :macro :variable :variable))`
	p.Says("(require :sb-introspect)")
	was := p.Says(places)
	s := harness.Attached(t, p)
	for _, c := range []struct{ code, note string }{
		{"(defun their-function (x) (list :ours x))", "function THEIR-FUNCTION. reset-session puts back what was there."},
		{"(defun (setf their-place) (v x) (list :ours v x))", "function (SETF THEIR-PLACE). reset-session"},
		{"(defmacro their-macro (x) (list 'list :ours x))", "macro THEIR-MACRO. reset-session"},
		{"(defparameter *their-variable* 7) (defparameter *their-parameter* 8) (defparameter *their-unbound* 1)", "it had not defined"},
		{"(define-compiler-macro their-function (x) x)", "compiler macro THEIR-FUNCTION. reset-session"},
		{"(defmethod their-generic ((x integer)) :ours) (defmethod their-generic ((x symbol)) :new)", "method THEIR-GENERIC (INTEGER). reset-session"},
		{"(defclass their-class () ((b :initform 2)))", "class THEIR-CLASS. What was there is gone: reset-session leaves the new one"},
		{"(defmacro becomes-macro () :macro)", "macro BECOMES-MACRO. reset-session puts"},
		{"(progn (defun twice-in-one () 1) (defun twice-in-one () 2))", "function TWICE-IN-ONE. reset-session puts"},
		{"(let ((x 1)) (defun is-replaced-by-them () x))", "function IS-REPLACED-BY-THEM."},
	} {
		got, _ := harness.Eval(t, s, c.code)
		note := "; Redefined, though this session had not defined it: " + c.note
		if c.note == "it had not defined" {
			note = "; Redefined, though this session had not defined them: variable *THEIR-VARIABLE*, variable *THEIR-PARAMETER*, variable *THEIR-UNBOUND*. reset-session puts"
		}
		harness.Says(t, got, note)
		harness.SaysNot(t, harness.Want(t, s, c.code, harness.Elided), "Redefined") // again
	}
	for _, code := range []string{"(defun ours () 1)", "(defvar *their-parameter* 9)", "(macroexpand '(defun their-function (x) x))", "(when nil (eval '(defun their-function (x) x)))"} {
		harness.SaysNot(t, harness.Want(t, s, code, harness.Elided), "Redefined")
	}
	p.Says("(defun is-replaced-by-them () 2)")
	got := harness.Call(t, s, "reset-session", harness.Object{}).Text()
	harness.Says(t, got, "What this session has redefined in place stays as it is: class THEIR-CLASS.")
	harness.SaysNot(t, got, "Not undone")
	for code, want := range map[string]string{
		`(mapcar #'eq *before* (list #'their-function #'(setf their-place) (macro-function 'their-macro) *their-variable* (compiler-macro-function 'their-function)
  (find-method #'their-generic () (list (find-class 'integer))) (find-class 'their-class) #'becomes-macro #'twice-in-one))`: "(T T T T T T T T T)",
		"(list (their-function 1) (their-macro 2) *their-variable* *their-parameter* (boundp '*their-unbound*) (documentation '*their-variable* 'variable))": `((:THEIRS 1) (:THEIRS 2) (1 2) 5 NIL "Their words.")`,
		"(list (their-generic 1) (their-generic \"\") (ignore-errors (their-generic :x)) (is-replaced-by-them) (becomes-macro) (twice-in-one))":              "(:THEIRS :STRING NIL 2 :FUNCTION :THEIRS)",
		"(list (fboundp 'ours) (slot-value (make-instance 'their-class) 'b))":                                                                                "(NIL 2)",
		places: was,
	} {
		p.Wants(code, want)
	}
}
