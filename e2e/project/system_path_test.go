package project

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/e2e/wire"
	"swank-mcp/internal/await"
)

// twoOfAName writes a system, another one that needs it, and two more of the first
// one's name elsewhere, and returns what only finds the first ones.
func twoOfAName(t *testing.T) (dir string, env []string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range map[string]string{
		"installed/swn/swn.asd":  `(defsystem "swn" :components ((:file "swn")))`,
		"installed/swn/swn.lisp": `(defpackage :swn (:use :cl)) (in-package :swn) (defun from () :installed)`,
		"installed/swd/swd.asd":  `(defsystem "swd" :depends-on ("swn") :components ((:file "swd")))`,
		"installed/swd/swd.lisp": `(defpackage :swd (:use :cl)) (in-package :swd) (defun from () (swn::from))`,
		"mine/swn/swn.asd":       `(defsystem "swn" :components ((:file "own")))` + "\n" + `(defsystem "swn/more" :depends-on ("swn"))`,
		"mine/swn/own.lisp":      `(defpackage :swn (:use :cl)) (in-package :swn) (defun from () :mine)`,
		"second/swn/swn.asd":     `(defsystem "swn" :components ((:file "swn")))`,
		"second/swn/swn.lisp":    `(defpackage :swn (:use :cl)) (in-package :swn) (defun from () :second)`,
	} {
		harness.Write(t, filepath.Join(dir, name), text)
	}
	return dir, harness.Environ(harness.Run.Dir, "CL_SOURCE_REGISTRY="+dir+"/installed//:", harness.OurFasls(dir, t.TempDir()))
}

// A path is honoured although ASDF finds another system of that name elsewhere, for
// as long as the image lives.
func TestLoadSystemByThePathOfAnotherOne(t *testing.T) {
	t.Parallel()
	dir, env := twoOfAName(t)
	s := harness.StartWith(t, wire.Options{Env: env}, "--toolsets", "all")
	own, second, installed := dir+"/mine/swn/swn.asd", dir+"/second/swn/swn.asd", dir+"/installed/swn/swn.asd"

	harness.Says(t, harness.Good(t, s, "load-system", harness.Object{"system": "swn"}), "\nLoaded: swn\nDefined in: "+installed)
	harness.Want(t, s, "(swn::from)", "=> :INSTALLED")
	for _, force := range []bool{false, true} {
		harness.Says(t, harness.Good(t, s, "load-system", harness.Object{"system": own, "force": force}), "\nLoaded: swn\nDefined in: "+own)
		harness.Want(t, s, "(swn::from)", "=> :MINE")
	}
	harness.Says(t, harness.Good(t, s, "load-system", harness.Object{"system": second}), "\nDefined in: "+second)
	harness.Want(t, s, "(swn::from)", "=> :SECOND")
	harness.Says(t, harness.Good(t, s, "load-system", harness.Object{"system": own}), "\nDefined in: "+own)
	harness.Want(t, s, "(swn::from)", "=> :MINE")
	// It stays so for the name, for what depends on it, and for other systems of its file.
	harness.Says(t, harness.Good(t, s, "load-system", harness.Object{"system": "swn"}), "\nDefined in: "+own)
	harness.Good(t, s, "load-system", harness.Object{"system": "swd"})
	harness.Says(t, harness.Good(t, s, "load-system", harness.Object{"system": "swn/more"}), "\nDefined in: "+own)
	harness.Says(t, harness.Good(t, s, "run-tests", harness.Object{"system": "swn"}), "\nDefined in: "+own)
	harness.Want(t, s, "(swd::from)", "=> :MINE")
	harness.Says(t, harness.Bad(t, s, "load-system", harness.Object{"system": dir + "/mine/swm.asd"}), dir+"/mine/swm.asd")
	if *harness.AttachedFlag {
		harness.Want(t, s, "(find 'swank-mcp::given-definition asdf:*system-definition-search-functions*)", "=> NIL")
	} else {
		harness.Want(t, s, `(progn (asdf:load-system "swd") (swd::from))`, "=> :MINE")
	}
}

// It is honoured in the next image, too, in a saved session, and where that is loaded
// without us; a definition that is gone is told, not replaced by another one.
func TestSystemsOfPathsComeBack(t *testing.T) {
	t.Parallel()
	dir, env := twoOfAName(t)
	own := dir + "/mine/swn/swn.asd"
	flags := []string{"--toolsets", "all", "--session-dir", t.TempDir()}
	s := harness.StartWith(t, wire.Options{Env: env}, flags...)
	harness.Good(t, s, "load-system", harness.Object{"system": own})
	harness.Good(t, s, "load-system", harness.Object{"system": "swd"})
	harness.Want(t, s, "(defun here () (swd::from))", "=> HERE")
	harness.Kill9(t, s)
	harness.SaysNot(t, harness.Want(t, s, "(list (here) (swn::from))", "=> (:MINE :MINE)\n…"), "Not restored")
	saved := harness.Good(t, s, "save-session", harness.Object{"file": "path.lisp"})
	other := harness.StartWith(t, wire.Options{Env: env}, flags...)
	harness.Good(t, other, "load-session", harness.Object{"file": "path.lisp"})
	harness.Want(t, other, "(list (here) (swn::from))", "=> (:MINE :MINE)")
	harness.Kill9(t, other)
	harness.Want(t, other, "(list (here) (swn::from))", "=> (:MINE :MINE)\n…")
	file := strings.Fields(saved[strings.Index(saved, "/"):])[0]
	if out := plainLisp(t, env, strings.TrimRight(file, ".,"), "(print (list (cl-user::here) (swn::from)))"); !strings.Contains(out, "(:MINE :MINE)") {
		t.Errorf("the saved file in a plain SBCL gives:\n%s", out)
	}
	harness.Check(t, os.Remove(own))
	harness.Kill9(t, s)
	harness.Want(t, s, "(+ 1 2)", "=> 3\n…system swn (The definition in "+own+" is gone.)…")
}

// plainLisp loads a file into an SBCL without us, evaluates code there and returns
// what it prints.
func plainLisp(t *testing.T, env []string, file, code string) string {
	t.Helper()
	cmd := await.Command(t, "sbcl", "--noinform", "--no-sysinit", "--no-userinit", "--non-interactive",
		"--load", file, "--eval", code)
	cmd.Env = env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("sbcl --load %s: %v", file, err)
	}
	return string(out)
}
