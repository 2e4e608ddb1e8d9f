package project

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/e2e/model"
	"swank-mcp/e2e/wire"
)

// project writes files, by their names below a directory of their own, and starts
// a server whose ASDF finds the systems there and compiles into another one. They are
// installed systems for it, not those of its project.
func project(t *testing.T, files map[string]string) (dir string, s *harness.Server) {
	t.Helper()
	return written(t, files, "")
}

// ownProject does what [project] does, with a server that works for the project.
func ownProject(t *testing.T, files map[string]string) (dir string, s *harness.Server) {
	t.Helper()
	dir = t.TempDir()
	return written(t, files, dir)
}

// written starts a server that works in own, where it writes the files; if own is "", it
// writes them elsewhere.
func written(t *testing.T, files map[string]string, own string) (dir string, s *harness.Server) {
	t.Helper()
	if dir = own; dir == "" {
		dir = t.TempDir()
	}
	for name, text := range files {
		harness.Write(t, filepath.Join(dir, name), text)
	}
	harness.Check(t, harness.WarmLibraries())
	s = harness.StartWith(t, wire.Options{Env: projectEnv(dir, t.TempDir()), Dir: own}, "--toolsets", "all")
	return dir, s
}

func projectEnv(dir, fasls string) []string {
	return harness.Environ(harness.Run.Dir, "CL_SOURCE_REGISTRY="+dir+"//:", harness.OurFasls(dir, fasls))
}

// quick is a project of a system, one that it needs, and its tests, with a version
// of the code in each.
func quick(version int) map[string]string {
	return map[string]string{
		"swq.asd": `(defsystem "swq" :depends-on ("swq-base") :components ((:file "macro") (:file "use" :depends-on ("macro")))
  :in-order-to ((test-op (test-op "swq/test"))))
(defsystem "swq/test" :depends-on ("swq" "fiveam") :components ((:file "test"))
  :perform (test-op (o c) (uiop:symbol-call :fiveam :run! (uiop:find-symbol* :all :swq-test))))`,
		"base/swq-base.asd": `(defsystem "swq-base" :components ((:file "base")))`,
		"base/base.lisp":    fmt.Sprintf("(defpackage :swq-base (:use :cl) (:export #:base)) (in-package :swq-base) (defmacro base () %d)", version),
		"macro.lisp":        fmt.Sprintf("(defpackage :swq (:use :cl)) (in-package :swq) (defvar *kept* '()) (defmacro m () %d)", version),
		"use.lisp":          `(in-package :swq) (defun used () (list (m) (swq-base:base)))`,
		"test.lisp": fmt.Sprintf(`(defpackage :swq-test (:use :cl)) (in-package :swq-test)
(fiveam:def-suite all) (fiveam:in-suite all)
(fiveam:test right (fiveam:is (equal '(%[1]d %[1]d) (swq::used))))`, version),
	}
}

// A project that is edited five times within a second, loaded by its name or by
// its path, and tested after each: the newest code is there each time, with what
// was compiled from its macros; and a run of tests leaves what the session has
// redefined and stored.
func TestSystemEditedWithinASecond(t *testing.T) {
	t.Parallel()
	dir, s := project(t, quick(11))
	for _, way := range []string{"swq", filepath.Join(dir, "swq.asd")} {
		t.Run(filepath.Base(way), func(t *testing.T) {
			for _, version := range []int{11, 22, 33, 44, 55} {
				for name, text := range quick(version) {
					if !strings.HasSuffix(name, ".asd") {
						harness.Write(t, filepath.Join(dir, name), text)
					}
				}
				harness.Good(t, s, "load-system", harness.Object{"system": way})
				harness.Want(t, s, "(swq::used)", fmt.Sprintf("=> (%[1]d %[1]d)", version))
				harness.Says(t, harness.Good(t, s, "run-tests", harness.Object{"system": "swq"}), "1 check, all passed.", dir+"/swq.asd")
			}
			harness.Want(t, s, "(defun swq::used () (list 0 0)) (push 1 swq::*kept*)", "=> (1)")
			harness.Says(t, harness.Good(t, s, "run-tests", harness.Object{"system": "swq"}), "1 check: 1 failed.", "(0 0)")
			harness.Want(t, s, "(list (swq::used) swq::*kept*)", "=> ((0 0) (1))")
			harness.Good(t, s, "load-system", harness.Object{"system": way})
			harness.Want(t, s, "(list (swq::used) swq::*kept*)", "=> ((0 0) (1))")
			// The tests themselves are changed: they alone are loaded.
			harness.Write(t, filepath.Join(dir, "test.lisp"), strings.ReplaceAll(quick(0)["test.lisp"], "right", "wrong"))
			harness.Says(t, harness.Good(t, s, "run-tests", harness.Object{"system": "swq"}), "all passed.")
			harness.Want(t, s, "(list (swq::used) swq::*kept*)", "=> ((0 0) (1))")
			harness.Want(t, s, "(makunbound 'swq::*kept*)", "=> SWQ::*KEPT*")
		})
	}
}

// What was just loaded by force is not loaded again, nor does a reset take away what
// a run of tests has loaded.
func TestForcedLoadIsRemembered(t *testing.T) {
	t.Parallel()
	w := model.NewWorld(t)
	w.Do(t, model.Mini("a", "(defun fa () 11)"))
	w.Do(t, model.LoadMini)
	w.Do(t, model.Mini("a", "(defun fa () 12)"))
	w.Do(t, model.Tool("load-system", harness.Object{"system": "mini", "force": true}))
	w.Do(t, model.Eval("(setf (symbol-function 'mini::fa) (lambda () :live))"))
	tests := model.Tool("run-tests", harness.Object{"system": "mini"})
	w.Do(t, tests)
	if value, _ := w.Ask(t, "(mini::fa)"); value != ":LIVE" {
		t.Errorf("after a run of tests (mini::fa) is %s, want what the session made of it", value)
	}
	w.Do(t, model.Mini("b", "(defun fb () 21)"))
	w.Do(t, tests)
	w.Do(t, model.Tool("reset-session", harness.Object{}))
	if value, _ := w.Ask(t, "(mini::fb)"); value != "21" {
		t.Errorf("after a reset (mini::fb), which a run of tests has loaded, is %s", value)
	}
}

// Tests that were just added are run, whenever the others were compiled.
func TestTestsAddedWithinASecond(t *testing.T) {
	t.Parallel()
	dir, s := project(t, quick(11))
	for i := range 5 {
		text := quick(11)["test.lisp"]
		for j := range i {
			text += fmt.Sprintf("\n(fiveam:test wrong-%d (fiveam:is (= 1 2)))", j)
		}
		harness.Write(t, filepath.Join(dir, "test.lisp"), text)
		got := harness.Good(t, s, "run-tests", harness.Object{"system": "swq"})
		if i > 0 {
			harness.Says(t, got, fmt.Sprintf("%d checks: 1 passed, %d failed.", i+1, i))
		} else {
			harness.Says(t, got, "1 check, all passed.")
		}
	}
}

// A fasl that an image has left in the second in which the source was written
// again is not taken for that source's by the next one.
func TestFaslOfTheSameSecond(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	env := projectEnv(dir, t.TempDir())
	for name, text := range quick(11) {
		harness.Write(t, filepath.Join(dir, name), text)
	}
	s := harness.StartWith(t, wire.Options{Env: env}, "--toolsets", "all")
	other := harness.StartWith(t, wire.Options{Env: env}, "--toolsets", "all")
	harness.Want(t, other, "(+ 1 2)", "=> 3")
	harness.Good(t, s, "load-system", harness.Object{"system": "swq"})
	for _, version := range []int{22, 33, 44} {
		harness.Write(t, filepath.Join(dir, "macro.lisp"), quick(version)["macro.lisp"])
		harness.Write(t, filepath.Join(dir, "base/base.lisp"), quick(version)["base/base.lisp"])
		harness.Good(t, s, "load-system", harness.Object{"system": "swq"})
		harness.Want(t, s, "(swq::used)", fmt.Sprintf("=> (%[1]d %[1]d)", version))
	}
	harness.Write(t, filepath.Join(dir, "macro.lisp"), quick(55)["macro.lisp"])
	harness.Write(t, filepath.Join(dir, "base/base.lisp"), quick(55)["base/base.lisp"])
	harness.Good(t, other, "load-system", harness.Object{"system": "swq"})
	harness.Want(t, other, "(swq::used)", "=> (55 55)")
}
