package e2e

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"swank-mcp/e2e/wire"
)

var (
	statusSteps = flag.Int("status.steps", 60, "steps of TestStatusProperty")
	statusSeed  = flag.Uint64("status.seed", 1, "seed of TestStatusProperty")
)

// statusFiles are the files of the system that TestStatusProperty works on. Each needs
// the ones before it: macros.lisp has the macros m0 and m1, the others functions that
// return constants, call each other and expand the macros.
var statusFiles = map[string][]string{
	"macros": {"m0", "m1"}, "a": {"f0", "f1", "f2"}, "b": {"f3", "f4", "f5"}, "c": {"f6", "f7"},
}

// statusWorld is a project, and what its files have: by file and name, a form.
type statusWorld struct {
	*truthWorld
	disk   map[string]map[string]string
	random *rand.Rand
	next   int // a number that no form has
	log    []string
}

// TestStatusProperty edits files, redefines functions and macros live and loads, at
// random. After each step project-status says that what is loaded is what is on disk if
// and only if the image and a plain SBCL that loads the files answer the same for every
// name. A form that is undone live or that no file has counts, too.
func TestStatusProperty(t *testing.T) {
	t.Parallel()
	w := newStatusWorld(t)
	clean, steps := 0, 0
	for ; steps < *statusSteps; steps++ {
		w.step(t)
		live, fresh := w.live(t), w.fresh(t)
		said := w.do(t, toolCall("project-status", object{}))
		is := strings.HasPrefix(said, "What is loaded is what is on disk")
		if is {
			clean++
		}
		if same := live == fresh; same != is {
			t.Fatalf("after %d steps with seed %d project-status says\n%s\nthe image answers %s\na fresh one      %s\nsteps:\n%s",
				steps+1, *statusSeed, said, live, fresh, strings.Join(w.log, "\n"))
		}
	}
	t.Logf("%d steps, clean after %d of them", steps, clean)
	if *statusSteps >= 60 && (clean == 0 || clean == steps) {
		t.Errorf("%d of %d steps were clean: the test compares nothing", clean, steps)
	}
}

func newStatusWorld(t *testing.T) *statusWorld {
	t.Helper()
	dir := t.TempDir()
	w := &statusWorld{truthWorld: &truthWorld{dir: dir, registry: "CL_SOURCE_REGISTRY=" + dir + "/:"},
		disk: map[string]map[string]string{}, random: rand.New(rand.NewPCG(*statusSeed, 1)), next: 100}
	w.write(t, "mini.asd", `(defsystem "mini" :serial t :components ((:file "package") (:file "macros") (:file "a") (:file "b") (:file "c")))`)
	w.write(t, "package.lisp", "(defpackage :mini (:use :cl))")
	for _, file := range slices.Sorted(maps.Keys(statusFiles)) {
		w.disk[file] = map[string]string{}
		for _, name := range statusFiles[file] {
			w.disk[file][name] = w.form(name)
		}
		w.save(t, file)
	}
	w.server = startWith(t, wire.Options{Dir: dir, Env: w.environ(t)})
	w.do(t, loadMini)
	return w
}

// form is a new definition of name: a macro, or a function that returns a constant,
// calls another one or expands a macro.
func (w *statusWorld) form(name string) string {
	w.next++
	switch {
	case strings.HasPrefix(name, "m"):
		return fmt.Sprintf("(defmacro %s () %d)", name, w.next)
	case w.random.IntN(3) == 0:
		return fmt.Sprintf("(defun %s () (list (m%d) %d))", name, w.random.IntN(2), w.next)
	case w.random.IntN(3) == 0:
		return fmt.Sprintf("(defun %s () (list (ignore-errors (f%d)) %d))", name, int(name[1]-'0')+1, w.next) // no loop
	}
	return fmt.Sprintf("(defun %s () %d)", name, w.next)
}

// save writes the file as disk has it, with a comment of random length now and then.
func (w *statusWorld) save(t *testing.T, file string) {
	t.Helper()
	text := "(in-package :mini)\n"
	for _, name := range slices.Sorted(maps.Keys(w.disk[file])) {
		text += w.disk[file][name] + strings.Repeat(" ", w.random.IntN(3)) + "\n"
	}
	w.write(t, file+".lisp", text)
}

// step takes a random step.
func (w *statusWorld) step(t *testing.T) {
	t.Helper()
	files := slices.Sorted(maps.Keys(statusFiles))
	file := files[w.random.IntN(len(files))]
	name := chosen(statusFiles[file], w.random.IntN(8))
	live := func(code string) {
		w.log = append(w.log, "live "+code)
		w.do(t, toolCall("evaluate-lisp", object{"code": code, "package": "mini"}))
	}
	switch op := w.random.IntN(20); {
	case op < 4: // an edit, perhaps two within a millisecond
		for range 1 + w.random.IntN(2) {
			w.disk[file][name] = w.form(name)
			w.save(t, file)
			w.log = append(w.log, "edit "+file+": "+w.disk[file][name])
		}
	case op < 5: // the form is taken away
		delete(w.disk[file], name)
		w.save(t, file)
		w.log = append(w.log, "remove "+name)
	case op < 8:
		live(w.form(name))
	case op < 10: // what was tried live goes into the file
		form := w.form(name)
		live(form)
		w.disk[file][name] = form
		w.save(t, file)
		w.log = append(w.log, "and write it into "+file)
	case op < 11: // what the file has is evaluated
		if form := w.disk[file][name]; form != "" {
			live(strings.Replace(form, " ", "  ", 1))
		}
	case op < 12:
		live("(fmakunbound 'mini::" + name + ")")
	case op < 13:
		w.log = append(w.log, "load "+file+" by evaluated code")
		w.do(t, evalCall(fmt.Sprintf("(load %q)", w.path(file+".lisp"))))
	case op < 14:
		w.log = append(w.log, "compile-file "+file)
		w.do(t, toolCall("compile-file", object{"path": w.path(file + ".lisp"), "load": true}))
	case op < 16: // all that only the image has goes
		w.log = append(w.log, "undefine what no file has, and load")
		var gone []string
		for file, names := range statusFiles {
			for _, name := range names {
				if w.disk[file][name] == "" {
					gone = append(gone, "mini::"+name)
				}
			}
		}
		w.do(t, evalCall("(mapc #'fmakunbound '("+strings.Join(gone, " ")+"))"))
		w.do(t, toolCall("load-system", object{"system": "mini", "force": true}))
	default:
		w.log = append(w.log, "load-system")
		w.do(t, loadMini)
	}
}

// statusAnswers is code for what every name answers, as a string: a function what it
// returns, a macro its expansion; that it is undefined is not an error in it.
var statusAnswers = func() string {
	var names []string
	for _, of := range statusFiles {
		names = append(names, of...)
	}
	slices.Sort(names)
	return `(let ((*print-pretty* nil) (*package* (find-package :mini)))
  (format nil "~{~S~^ ~}" (mapcar (lambda (name) (let ((symbol (intern name :mini)))
    (handler-case (cond ((not (fboundp symbol)) :none)
                        ((macro-function symbol) (list :macro (macroexpand-1 (list symbol)))) (t (funcall symbol)))
      (error () :error)))) '(` + strings.ToUpper(fmt.Sprintf("%q", names)[1:len(fmt.Sprintf("%q", names))-1]) + `))))`
}()

func (w *statusWorld) live(t *testing.T) string {
	t.Helper()
	value, _ := w.ask(t, statusAnswers)
	return value
}

// fresh is what a plain SBCL answers that loads the files as ASDF would.
func (w *statusWorld) fresh(t *testing.T) string {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	args := slices.Clone(plainSBCL)
	for _, file := range []string{"package", "macros", "a", "b", "c"} {
		args = append(args, "--load", w.path(file+".lisp"))
	}
	cmd := exec.CommandContext(ctx, "sbcl", append(args, "--eval", `(format t "~&=> ~S~%" `+asked(statusAnswers)+`)`)...)
	out, err := cmd.CombinedOutput()
	if m := firstValue.FindAllSubmatch(out, -1); err == nil && m != nil {
		return string(m[len(m)-1][1])
	}
	t.Fatalf("a fresh image: %v: %s", err, clip(string(out)))
	return ""
}
