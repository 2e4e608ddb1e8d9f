package project

import (
	"os"
	"path/filepath"
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/e2e/wire"
)

// toldProject writes a project that no registry knows, a system that needs one
// of another directory, and returns the two files of definitions.
func toldProject(t *testing.T) (base, app string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"swt-base/swt-base.asd": `(defsystem "swt-base" :components ((:file "base")))`,
		"swt-base/base.lisp":    `(defpackage :swt-base (:use :cl)) (in-package :swt-base) (defun base () 40)`,
		"swt-app/swt-app.asd": `(defsystem "swt-app" :depends-on ("swt-base") :components ((:file "app")))
(defsystem "swt-app/more" :depends-on ("swt-app") :components ((:file "more")))`,
		"swt-app/app.lisp":  `(defpackage :swt-app (:use :cl)) (in-package :swt-app) (defun app () (+ 2 (swt-base::base)))`,
		"swt-app/more.lisp": `(in-package :swt-app) (defun more () :more)`,
	} {
		file := filepath.Join(dir, name)
		harness.Check(t, os.MkdirAll(filepath.Dir(file), 0o755))
		harness.Write(t, file, text)
	}
	return filepath.Join(dir, "swt-base/swt-base.asd"), filepath.Join(dir, "swt-app/swt-app.asd")
}

// What the code has told ASDF of is found in a new image, too, and by a saved
// session.
func TestSystemsToldOfComeBack(t *testing.T) {
	t.Parallel()
	base, app := toldProject(t)
	env := harness.Environ(harness.Run.Dir, "ASDF_OUTPUT_TRANSLATIONS=/:"+t.TempDir()+"/")
	flags := []string{"--toolsets", "all", "--session-dir", t.TempDir()}
	s := harness.StartWith(t, wire.Options{Env: env}, flags...)
	harness.Want(t, s, `(require :asdf) (push #p"`+filepath.Dir(base)+`/" asdf:*central-registry*) (asdf:load-asd "`+app+`") :ok`, "=> :OK")
	harness.Load(t, s, "swt-app/more")
	harness.Want(t, s, `(in-package :swt-app) (defun mine () (list (app) (more)))`, "=> MINE")
	harness.Kill9(t, s)
	harness.SaysNot(t, harness.Want(t, s, "(mine)", "=> (42 :MORE)\n…"), "Not restored")
	harness.Good(t, s, "save-session", harness.Object{"file": "told.lisp"})
	other := harness.StartWith(t, wire.Options{Env: env}, flags...)
	harness.SaysNot(t, harness.Good(t, other, "load-session", harness.Object{"file": "told.lisp"}), "fail")
	harness.Want(t, other, "(mine)", "=> (42 :MORE)")

	// What is gone by then is told as lost, and nothing of it as restored.
	harness.Check(t, os.Remove(app))
	harness.Kill9(t, other)
	harness.Says(t, harness.Want(t, other, "(+ 1 2)", "=> 3\n…"), "Restored: nothing.", "Not restored: system swt-app/more (", "function SWT-APP::MINE (")
}

// A project that no registry knows: load-system takes the path of its
// definition, and names one that lies in the working directory, which is not that of
// the project here.
func TestLoadSystemByItsFile(t *testing.T) {
	t.Parallel()
	base, app := toldProject(t)
	dir := filepath.Dir(filepath.Dir(app))
	s := harness.StartWith(t, wire.Options{Dir: dir, Env: harness.Environ(harness.Run.Dir, "ASDF_OUTPUT_TRANSLATIONS=/:"+t.TempDir()+"/")}, "--project", t.TempDir())
	next := "\n\nNext: load-system {\"system\": \"" + base + "\"}"
	wantLoad(t, s, "swt-base", "[ERROR] ASDF:MISSING-COMPONENT\nComponent \"swt-base\" not found\n…A definition that ASDF has not been told of: "+base+".…"+next)
	harness.WantReply(t, s, "run-tests", harness.Object{"system": "swt-base"}, "[ERROR]…"+next)
	wantLoad(t, s, base, loadedFrom(base, "swt-base"))
	wantLoad(t, s, "swt-app/swt-app.asd", loadedFrom(app, "swt-app")) // relative to the working directory
	harness.Want(t, s, "(swt-app::app)", "=> 42")
	wantLoad(t, s, "nowhere/swt-app.asd", "[ERROR]…"+dir+"/nowhere/swt-app.asd…")
	harness.WantList(t, s, harness.Object{"type": "systems"}, "[Loaded Systems]\n- SWT-APP\n- SWT-BASE")
}
