package project

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/e2e/model"
	"swank-mcp/e2e/wire"
)

// statusName is something that a file of statusWorld may define. A method is named by
// its function and the class of its argument; an export is a name that the package's
// definition lists.
type statusName struct{ kind, name, file string }

// statusFiles are the files of the system that TestStatusProperty works on. Each needs
// the ones before it. The last is in the system at times only.
var statusFiles = []string{"package", "macros", "types", "a", "b", "c", "d"}

var statusNames = []statusName{
	{"export", "f0", "package"}, {"export", "m0", "package"}, {"export", "f9", "package"},
	{"macro", "m0", "macros"}, {"macro", "m1", "macros"}, {"constant", "k0", "macros"},
	{"structure", "s0", "types"}, {"class", "c0", "types"}, {"generic", "g0", "types"},
	{"function", "f0", "a"}, {"function", "f1", "a"}, {"function", "f2", "a"},
	{"variable", "v0", "a"}, {"method", "g0 integer", "a"},
	{"function", "f3", "b"}, {"function", "f4", "b"}, {"function", "f5", "b"},
	{"variable", "v1", "b"}, {"method", "g0 string", "b"}, {"method", "g0 c0", "b"},
	{"function", "f6", "c"}, {"function", "f7", "c"},
	{"function", "f8", "d"}, {"function", "f9", "d"},
}

// statusWorld is a project, and what its files have: by name, a form.
type statusWorld struct {
	*model.World
	disk   map[statusName]string
	files  []string // those that the system has, in order
	random *rand.Rand
	next   int // a number that no form has
	log    []string
	known  map[string]string // what a plain SBCL has answered, by the text of all files
}

func newStatusWorld(t *testing.T, seed uint64) *statusWorld {
	t.Helper()
	dir := t.TempDir()
	w := &statusWorld{
		World: &model.World{Dir: dir, Registry: "CL_SOURCE_REGISTRY=" + dir + "/:"},
		disk:  map[statusName]string{}, files: statusFiles,
		random: rand.New(rand.NewPCG(seed, 1)), next: 100, known: map[string]string{},
	}
	for _, n := range statusNames {
		w.disk[n] = w.form(n)
	}
	w.saveSystem(t)
	for _, file := range statusFiles {
		w.save(t, file)
	}
	w.Server = harness.StartWith(t, wire.Options{Dir: dir, Env: w.Environ(t)})
	w.Do(t, model.LoadMini)
	return w
}

func (w *statusWorld) pick(of ...string) string { return of[w.random.IntN(len(of))] }

// form is a new definition of n.
func (w *statusWorld) form(n statusName) string {
	w.next++
	name, class, _ := strings.Cut(n.name, " ")
	switch n.kind {
	case "export":
		return name
	case "macro":
		return fmt.Sprintf("(defmacro %s () %d)", name, w.next)
	case "constant":
		return fmt.Sprintf("(defconstant %s %d)", name, w.next)
	case "variable":
		return fmt.Sprintf("(%s %s %d)", w.pick("defvar", "defparameter"), name, w.next)
	case "structure":
		return fmt.Sprintf("(defstruct %s %s(x %d))", name, w.pick("", "y ", "z "), w.next)
	case "class":
		return fmt.Sprintf("(defclass %s () (%s(x :initform %d :reader %s-x)))", name, w.pick("", "y ", "z "), w.next, name)
	case "generic":
		return fmt.Sprintf("(defgeneric %s (x) (:documentation \"%d\")%s)", name, w.next, w.pick("", " (:method ((x symbol)) 1)"))
	case "method":
		return fmt.Sprintf("(defmethod %s ((x %s)) %d)", name, class, w.next)
	}
	callee := int(name[1]-'0') + 1 // no loop
	used := w.pick("", "", "", "(m0)", "(m1)", fmt.Sprintf("(f%d)", callee), fmt.Sprintf("(f%d)", callee),
		"k0", "v0", "v1", "(s0-x (make-s0))", "(c0-x (make-instance 'c0))", "(g0 1)")
	return fmt.Sprintf("(defun %s () (list (ignore-errors %s) %d))", name, used, w.next)
}

// in are the names that the file may define, in its order.
func (w *statusWorld) in(file string) (names []statusName) {
	for _, n := range statusNames {
		if n.file == file {
			names = append(names, n)
		}
	}
	return names
}

// save writes the file as disk has it, with blank lines of random number.
func (w *statusWorld) save(t *testing.T, file string) {
	t.Helper()
	blank := strings.Repeat("\n", w.random.IntN(3))
	w.Write(t, file+".lisp", w.text(file)+blank)
}

func (w *statusWorld) text(file string) string {
	text := "(in-package :mini)\n"
	if file == "package" {
		text = "(defpackage :mini (:use :cl) (:export #:used"
	}
	for _, n := range w.in(file) {
		switch form := w.disk[n]; {
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

func (w *statusWorld) saveSystem(t *testing.T) {
	t.Helper()
	w.Write(t, "mini.asd", `(defsystem "mini" :serial t :components ((:file "`+strings.Join(w.files, `") (:file "`)+`")))`)
}
