package project

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/e2e/wire"
	"swank-mcp/internal/tier"
)

// Neither a run of tests nor a system that is not there makes ASDF forget what is
// loaded: what the session has redefined is what is tested, and it stays.
func TestRunTestsLeavesTheSessionsFixes(t *testing.T) {
	t.Parallel()
	_, s := project(t, map[string]string{
		"swh.asd": `(defsystem "swh" :components ((:file "swh"))
  :perform (test-op (o c) (format t "half of 8 is ~D" (uiop:symbol-call :swh '#:half 8))))`,
		"swh.lisp": "(defpackage :swh (:use :cl)) (in-package :swh)\n(defvar *seen* '())\n(setf *seen* '())\n(defun half (x) (/ x 3))\n(format t \"loading swh~%\")",
	})
	harness.Good(t, s, "load-system", harness.Object{"system": "swh"})
	harness.Want(t, s, "(defun swh::half (x) (/ x 2)) (push 1 swh::*seen*)", "=> (1)")
	const still = "=> (4 (1))"
	harness.Says(t, harness.Good(t, s, "run-tests", harness.Object{"system": "swh"}), "half of 8 is 4")
	harness.Want(t, s, "(list (swh::half 8) swh::*seen*)", still)
	harness.Says(t, harness.Bad(t, s, "load-system", harness.Object{"system": "swh/tset"}), "[ERROR] ASDF:MISSING-COMPONENT\nComponent \"swh/tset\" not found")
	harness.Bad(t, s, "run-tests", harness.Object{"system": "swh/tset"})
	harness.Want(t, s, "(list (swh::half 8) swh::*seen*)", still)
	harness.SaysNot(t, harness.Good(t, s, "load-system", harness.Object{"system": "swh"}), "loading swh")
	harness.Want(t, s, "(list (swh::half 8) swh::*seen*)", still)
}

// newerASDF starts a server whose ASDF finds a newer one and a system, swz.
func newerASDF(t *testing.T) (s *harness.Server, swz, version string) {
	t.Helper()
	const newer = "/usr/local/share/swank-mcp-test/asdf"
	text, err := os.ReadFile(newer + "/version.lisp-expr")
	if err != nil {
		t.Fatalf("%v; scripts/install-deps --test brings it", err)
	}
	dir := t.TempDir()
	swz = filepath.Join(dir, "swz.asd")
	harness.Write(t, swz, `(defsystem "swz" :components ((:file "swz")))`)
	harness.Write(t, filepath.Join(dir, "swz.lisp"), "(defpackage :swz (:use :cl))")
	env := harness.Environ(harness.Run.Dir, "CL_SOURCE_REGISTRY="+dir+"//:"+newer+"//:", "ASDF_OUTPUT_TRANSLATIONS=/:"+t.TempDir()+"/")
	return harness.StartWith(t, wire.Options{Env: env}, "--toolsets", "all"), swz, string(text)
}

// What ASDF compiles to replace itself is no part of the reply.
func TestNewerASDFIsLoadedWithoutAWord(t *testing.T) {
	tier.Nightly(t)
	t.Parallel()
	s, swz, version := newerASDF(t)
	for range 2 {
		wantLoad(t, s, "swz", loadedFrom(swz, "swz"))
	}
	if text, _ := harness.Eval(t, s, "(asdf:asdf-version)"); !strings.Contains(version, strings.TrimPrefix(text, "=> ")) {
		t.Errorf("ASDF did not replace itself: it is %s", text)
	}
}

// A module of SBCL's is no occasion for ASDF to replace itself.
func TestModulesLeaveASDFAlone(t *testing.T) {
	t.Parallel()
	s, _, _ := newerASDF(t)
	harness.Want(t, s, "(require :asdf) (defvar *asdf* (asdf:asdf-version))", "=> *ASDF*")
	harness.Good(t, s, "profile-code", harness.Object{"code": "(loop repeat 1000000 count (random 2))"})
	harness.Want(t, s, "(string= *asdf* (asdf:asdf-version))", "=> T")
}
