package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"swank-mcp/e2e/wire"
)

// project writes files, by their names below a directory of their own, and starts
// a server whose ASDF finds the systems there and compiles into another one.
func project(t *testing.T, files map[string]string) (dir string, s *server) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range files {
		write(t, filepath.Join(dir, name), text)
	}
	check(t, warmLibraries())
	s = startWith(t, wire.Options{Env: projectEnv(dir, t.TempDir())}, "--toolsets", "all")
	return dir, s
}

func projectEnv(dir, fasls string) []string {
	return environ(run.dir, "CL_SOURCE_REGISTRY="+dir+"//:", ourFasls(dir, fasls))
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
						write(t, filepath.Join(dir, name), text)
					}
				}
				good(t, s, "load-system", object{"system": way})
				want(t, s, "(swq::used)", fmt.Sprintf("=> (%[1]d %[1]d)", version))
				says(t, good(t, s, "run-tests", object{"system": "swq"}), "1 check, all passed.", dir+"/swq.asd")
			}
			want(t, s, "(defun swq::used () (list 0 0)) (push 1 swq::*kept*)", "=> (1)")
			says(t, good(t, s, "run-tests", object{"system": "swq"}), "1 check: 1 failed.", "(0 0)")
			want(t, s, "(list (swq::used) swq::*kept*)", "=> ((0 0) (1))")
			good(t, s, "load-system", object{"system": way})
			want(t, s, "(list (swq::used) swq::*kept*)", "=> ((0 0) (1))")
			// The tests themselves are changed: they alone are loaded.
			write(t, filepath.Join(dir, "test.lisp"), strings.ReplaceAll(quick(0)["test.lisp"], "right", "wrong"))
			says(t, good(t, s, "run-tests", object{"system": "swq"}), "all passed.")
			want(t, s, "(list (swq::used) swq::*kept*)", "=> ((0 0) (1))")
			want(t, s, "(makunbound 'swq::*kept*)", "=> SWQ::*KEPT*")
		})
	}
}

// What was just loaded by force is not loaded again, nor does a reset take away what
// a run of tests has loaded.
func TestForcedLoadIsRemembered(t *testing.T) {
	t.Parallel()
	w := newTruthWorld(t)
	w.do(t, miniFile("a", "(defun fa () 11)"))
	w.do(t, loadMini)
	w.do(t, miniFile("a", "(defun fa () 12)"))
	w.do(t, toolCall("load-system", object{"system": "mini", "force": true}))
	w.do(t, evalCall("(setf (symbol-function 'mini::fa) (lambda () :live))"))
	tests := toolCall("run-tests", object{"system": "mini"})
	w.do(t, tests)
	if value, _ := w.ask(t, "(mini::fa)"); value != ":LIVE" {
		t.Errorf("after a run of tests (mini::fa) is %s, want what the session made of it", value)
	}
	w.do(t, miniFile("b", "(defun fb () 21)"))
	w.do(t, tests)
	w.do(t, toolCall("reset-session", object{}))
	if value, _ := w.ask(t, "(mini::fb)"); value != "21" {
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
		write(t, filepath.Join(dir, "test.lisp"), text)
		got := good(t, s, "run-tests", object{"system": "swq"})
		if i > 0 {
			says(t, got, fmt.Sprintf("%d checks: 1 passed, %d failed.", i+1, i))
		} else {
			says(t, got, "1 check, all passed.")
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
		write(t, filepath.Join(dir, name), text)
	}
	s := startWith(t, wire.Options{Env: env}, "--toolsets", "all")
	other := startWith(t, wire.Options{Env: env}, "--toolsets", "all")
	want(t, other, "(+ 1 2)", "=> 3")
	good(t, s, "load-system", object{"system": "swq"})
	for _, version := range []int{22, 33, 44} {
		write(t, filepath.Join(dir, "macro.lisp"), quick(version)["macro.lisp"])
		write(t, filepath.Join(dir, "base/base.lisp"), quick(version)["base/base.lisp"])
		good(t, s, "load-system", object{"system": "swq"})
		want(t, s, "(swq::used)", fmt.Sprintf("=> (%[1]d %[1]d)", version))
	}
	write(t, filepath.Join(dir, "macro.lisp"), quick(55)["macro.lisp"])
	write(t, filepath.Join(dir, "base/base.lisp"), quick(55)["base/base.lisp"])
	good(t, other, "load-system", object{"system": "swq"})
	want(t, other, "(swq::used)", "=> (55 55)")
}
