//go:build unix

package model

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"swank-mcp/e2e/harness"
)

// statusName names something that a file of a [Project] may define. A method is named by
// its function and the class of its argument; an export is a name that the package's
// definition lists.
type statusName struct{ kind, name, file string }

// statusFiles are the files of the systems of a project, which define one package. Each needs the
// ones before it. The first three are of one system, the others of another that depends on it. The
// last is in its system at times only.
var statusFiles = []string{"package", "macros", "types", "a", "b", "c", "d"}

var statusNames = []statusName{
	{"export", "f0", "package"}, {"export", "m0", "package"}, {"export", "f9", "package"},
	{"macro", "m0", "macros"}, {"macro", "m1", "macros"}, {"macro", "m2", "macros"}, {"constant", "k0", "macros"},
	{"type", "t0", "macros"}, {"inline", "i0", "macros"},
	{"structure", "s0", "types"}, {"class", "c0", "types"}, {"generic", "g0", "types"},
	{"function", "f0", "a"}, {"function", "f1", "a"}, {"function", "f2", "a"},
	{"variable", "v0", "a"}, {"method", "g0 integer", "a"},
	{"function", "f3", "b"}, {"function", "f4", "b"}, {"function", "f5", "b"},
	{"variable", "v1", "b"}, {"method", "g0 string", "b"}, {"method", "g0 c0", "b"}, {"method", "g0 cons", "b"},
	{"function", "f6", "c"}, {"function", "f7", "c"}, {"conditional", "h0", "c"},
	{"function", "f8", "d"}, {"function", "f9", "d"},
}

// project models the files of two systems: by name, the form that a file has.
type project struct {
	disk  map[statusName]string
	files []string          // those that the systems have, in order
	next  int               // a number that no form has
	known map[string]string // what a plain SBCL has answered, by the text of all files

	compared, clean int
}

// HasProject begins a session that has loaded two systems with definitions of all kinds.
func (r *Run) HasProject() {
	r.project = project{disk: map[statusName]string{}, files: statusFiles, next: 100, known: map[string]string{}}
	s := Step{rand.New(rand.NewPCG(1, 1)), 0}
	for _, n := range statusNames {
		r.project.disk[n] = r.project.form(s, n)
	}
	files := map[string]string{"mini.asd": r.project.system()}
	for _, file := range statusFiles {
		files[file+".lisp"] = r.project.text(file)
	}
	r.World = NewWorldOf(r.T, "", files)
	r.do(LoadMini)
	r.StatusIsTrue()
}

// form is a new definition of n.
func (p *project) form(s Step, n statusName) string {
	p.next++
	name, class, _ := strings.Cut(n.name, " ")
	switch n.kind {
	case "export":
		return name
	case "macro":
		if name == "m2" {
			return fmt.Sprintf("(define-it %s %d)", name, p.next)
		}
		return fmt.Sprintf("(defmacro %s () %d)", name, p.next)
	case "type":
		return fmt.Sprintf("(deftype %s () '(integer 0 %d))", name, p.next)
	case "inline":
		return fmt.Sprintf("(progn (declaim (inline %s)) (defun %[1]s () %d))", name, p.next)
	case "conditional":
		return fmt.Sprintf(one(s, "(unless (fboundp '%s) (defun %[1]s () %d))", "#+sbcl (defun %s () %d)",
			"(eval-when (:load-toplevel :execute) (defun %s () %d))"), name, p.next)
	case "constant":
		return fmt.Sprintf("(defconstant %s %d)", name, p.next)
	case "variable":
		return fmt.Sprintf("(%s %s %d)", one(s, "defvar", "defparameter"), name, p.next)
	case "structure":
		return fmt.Sprintf("(defstruct %s %s(x %d))", name, one(s, "", "y ", "z "), p.next)
	case "class":
		return fmt.Sprintf("(defclass %s () (%s(x :initform %d :reader %s-x)))", name, one(s, "", "y ", "z "), p.next, name)
	case "generic":
		return fmt.Sprintf("(defgeneric %s (x) (:documentation \"%d\")%s)", name, p.next, one(s, "", " (:method ((x symbol)) 1)"))
	case "method":
		if class == "cons" {
			return fmt.Sprintf("(define-way %s %s %d)", name, class, p.next)
		}
		return fmt.Sprintf("(defmethod %s ((x %s)) %d)", name, class, p.next)
	}
	callee := int(name[1]-'0') + 1 // no loop
	used := one(s, "", "", "", "(m0)", "(m1)", fmt.Sprintf("(f%d)", callee), fmt.Sprintf("(f%d)", callee),
		"k0", "v0", "v1", "(s0-x (make-s0))", "(c0-x (make-instance 'c0))", "(g0 1)",
		"(m2)", "(i0)", "(typep 150 't0)", "(h0)")
	return fmt.Sprintf("(defun %s () (list (ignore-errors %s) %d))", name, used, p.next)
}

// in are the names that the file may define, in its order.
func (p *project) in(file string) (names []statusName) {
	for _, n := range statusNames {
		if n.file == file {
			names = append(names, n)
		}
	}
	return names
}

func (p *project) text(file string) string {
	text := "(in-package :mini)\n"
	if file == "package" {
		text = "(defpackage :mini (:use :cl) (:export #:used"
	}
	if file == "macros" {
		text += "(defmacro define-it (name n) `(defmacro ,name () ,n))\n" +
			"(defmacro define-way (name class n) `(defmethod ,name ((x ,class)) ,n))\n"
	}
	for _, n := range p.in(file) {
		switch form := p.disk[n]; {
		case form == "":
		case n.kind == "export":
			text += " #:" + form
		default:
			text += form + "\n"
		}
	}
	if file == "package" {
		text += "))\n"
	}
	return text
}

func (p *project) system() string {
	components := func(files []string) string {
		return `:serial t :components ((:file "` + strings.Join(files, `") (:file "`) + `")))` + "\n"
	}
	return `(defsystem "mini/base" ` + components(p.files[:3]) + `(defsystem "mini" :depends-on ("mini/base") ` + components(p.files[3:])
}

// StatusIsTrue checks that project-status says that what is loaded is what is on disk if and only
// if the image and a plain SBCL that loads the files answer the same for every name.
func (r *Run) StatusIsTrue() {
	live, _ := r.Ask(r.T, strings.Replace(statusAnswers, "$system", systemFiles, 1))
	fresh := r.fresh()
	said := r.World.Do(r.T, Tool("project-status", harness.Object{}))
	is := saysClean(said)
	r.project.compared++
	if is {
		r.project.clean++
	}
	if (live == fresh) != is {
		r.fails("%s\n%s", said, otherAnswers(live, fresh))
	}
}

// StatusWasBoth checks that the status was compared both where it was clean and where not.
func (r *Run) StatusWasBoth() {
	r.T.Logf("clean after %d of %d steps", r.project.clean, r.project.compared)
	if r.project.compared >= 60 && (r.project.clean == 0 || r.project.clean == r.project.compared) {
		r.fails("%d of %d steps were clean: the test compares nothing", r.project.clean, r.project.compared)
	}
}

// otherAnswers names what the image and a fresh one answer otherwise.
func otherAnswers(live, fresh string) string {
	names := append(slices.Clone(statusNames), statusName{"system", "mini", ""})
	was, is := strings.Split(live, " | "), strings.Split(fresh, " | ")
	if len(was) != len(names) || len(is) != len(names) {
		return fmt.Sprintf("the image answers %s, a fresh one %s", live, fresh)
	}
	text := ""
	for i, n := range names {
		if was[i] != is[i] {
			text += fmt.Sprintf("%s %s: the image answers %s, a fresh one %s\n", n.kind, n.name, was[i], is[i])
		}
	}
	return text
}

// oldObjects is a line about objects, which are garbage here, not about a definition.
var oldObjects = regexp.MustCompile(`(?m)^- (?:at least )?[0-9]+ objects? of an earlier .*\n?`)

// saysClean reports whether the reply of project-status names no difference.
func saysClean(reply string) bool {
	reply = oldObjects.ReplaceAllString(reply, "")
	return strings.HasPrefix(reply, "What is loaded is what is on disk") ||
		strings.HasPrefix(reply, "The image differs") && !strings.Contains(reply, "\n- ")
}

// statusAnswers is code for what every name answers, as a string. That one is undefined is
// an answer, too.
var statusAnswers = func() string {
	code := `(let ((*print-pretty* nil) (*package* (find-package :mini)))
(macrolet ((answer (form) (list 'handler-case form '(error () :error))))
(format nil "~{~S~^ | ~}" (list `
	for _, n := range statusNames {
		code += "(answer " + n.of(statusKinds[n.kind].ask) + ") "
	}
	return code + `$system))))`
}()

// systemFiles is code for the files of the systems as ASDF knows them: that is a definition, too.
const systemFiles = `(loop for name in '("mini/base" "mini")
  append (mapcar (function asdf:component-name) (asdf:component-children (asdf:registered-system name))))`

// statusKinds have by kind code for what the name $n answers, and code that undoes it; $c is the
// class of a method. For a constant there is none.
var statusKinds = map[string]struct{ ask, undo string }{
	"export":      {`(list :export (nth-value 1 (find-symbol (string '$n) :mini)))`, "(unexport '$n)"},
	"macro":       {`(if (macro-function '$n) (macroexpand-1 '($n)) :none)`, "(fmakunbound '$n)"},
	"function":    {`(cond ((not (fboundp '$n)) :none) ((macro-function '$n) (macroexpand-1 '($n))) (t (funcall '$n)))`, "(fmakunbound '$n)"},
	"type":        {`(sb-ext:typexpand-1 '$n)`, "nil"},
	"inline":      {`(if (fboundp '$n) (funcall '$n) :none)`, "(fmakunbound '$n)"},
	"conditional": {`(if (fboundp '$n) (funcall '$n) :none)`, "(fmakunbound '$n)"},
	"constant":    {`(list (constantp '$n) (symbol-value '$n))`, "nil"},
	"variable":    {`(symbol-value '$n)`, "(makunbound '$n)"},
	"structure": {`(list (find-class '$n nil) (and (fboundp 'mini::s0-x) t) (and (fboundp 'mini::s0-y) t) (and (fboundp 'mini::s0-z) t)
  (answer (funcall 'mini::make-s0)))`, "(setf (find-class '$n) nil)"},
	"class": {`(let ((i (make-instance '$n))) (list (slot-exists-p i 'mini::y) (slot-exists-p i 'mini::z) (funcall 'mini::c0-x i)))`,
		"(setf (find-class '$n) nil)"},
	"generic": {`(if (fboundp '$n) (list (documentation '$n 'function) (answer (funcall '$n 'x))) :none)`, "(fmakunbound '$n)"},
	"method": {`(funcall '$n (let ((class '$c)) (case class (integer 1) (string "a") (cons (list 1)) (t (make-instance 'mini::c0)))))`,
		"(remove-method #'$n (find-method #'$n () (list (find-class '$c))))"},
}

// of fills in the name and its class.
func (n statusName) of(code string) string {
	name, class, _ := strings.Cut(n.name, " ")
	return strings.NewReplacer("$n", "mini::"+name, "$c", class).Replace(code)
}

// fresh returns the answer of a plain SBCL after it has loaded the files as ASDF would. Where that
// fails, it returns a text that no image answers.
func (r *Run) fresh() string {
	texts, files := "", []string{}
	for _, file := range r.project.files {
		texts += r.project.text(file)
		files = append(files, file+".lisp")
	}
	if r.project.known[texts] == "" {
		r.project.known[texts] = r.InPlainSBCL(r.T, strings.Replace(statusAnswers, "$system", `'("`+strings.Join(r.project.files, `" "`)+`")`, 1), files...)
	}
	return r.project.known[texts]
}
