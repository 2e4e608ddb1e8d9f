package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

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
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "swt-base/swt-base.asd"), filepath.Join(dir, "swt-app/swt-app.asd")
}

// What the code has told ASDF of is found in a new image, too, and by a saved
// session.
func TestSystemsToldOfComeBack(t *testing.T) {
	t.Parallel()
	base, app := toldProject(t)
	env := environ(run.dir, "ASDF_OUTPUT_TRANSLATIONS=/:"+t.TempDir()+"/")
	flags := []string{"--toolsets", "all", "--session-dir", t.TempDir()}
	s := startWith(t, wire.Options{Env: env}, flags...)
	want(t, s, `(require :asdf) (push #p"`+filepath.Dir(base)+`/" asdf:*central-registry*) (asdf:load-asd "`+app+`") :ok`, "=> :OK")
	if text, isErr := load(t, s, "swt-app/more"); isErr {
		t.Fatal(text)
	}
	want(t, s, `(in-package :swt-app) (defun mine () (list (app) (more)))`, "=> MINE")
	kill9(t, s)
	text, isErr := eval(t, s, `(mine)`)
	if isErr || !strings.HasPrefix(text, "=> (42 :MORE)\n") || strings.Contains(text, "Not restored") {
		t.Errorf("after the image died (isError %v):\n%s", isErr, text)
	}
	if r := call(t, s, patience, "save-session", map[string]any{"file": "told.lisp"}); r.IsError {
		t.Fatal(r.Text())
	}
	other := startWith(t, wire.Options{Env: env}, flags...)
	if r := call(t, other, patience, "load-session", map[string]any{"file": "told.lisp"}); r.IsError || strings.Contains(r.Text(), "fail") {
		t.Errorf("the saved session answered (isError %v):\n%s", r.IsError, r.Text())
	}
	want(t, other, "(mine)", "=> (42 :MORE)")

	// What is gone by then is told as lost, and nothing of it as restored.
	if err := os.Remove(app); err != nil {
		t.Fatal(err)
	}
	kill9(t, other)
	text, isErr = eval(t, other, `(+ 1 2)`)
	if isErr || !strings.HasPrefix(text, "=> 3\n") || !strings.Contains(text, "Restored: nothing.") ||
		!strings.Contains(text, "Not restored: system swt-app/more (") || !strings.Contains(text, "function SWT-APP::MINE (") {
		t.Errorf("after the system was removed (isError %v):\n%s", isErr, text)
	}
}

// A project that no registry knows: load-system takes the path of its
// definition, and names one that lies in the working directory.
func TestLoadSystemByItsFile(t *testing.T) {
	t.Parallel()
	base, app := toldProject(t)
	dir := filepath.Dir(filepath.Dir(app))
	s := startWith(t, wire.Options{Dir: dir, Env: environ(run.dir, "ASDF_OUTPUT_TRANSLATIONS=/:"+t.TempDir()+"/")})
	text, isErr := load(t, s, "swt-base")
	if !isErr || !strings.HasPrefix(text, "[ERROR] ASDF:MISSING-COMPONENT\nComponent \"swt-base\" not found\n") ||
		!strings.Contains(text, "A definition that ASDF has not been told of: "+base+".") ||
		!strings.HasSuffix(text, "\n\nNext: load-system {\"system\": \""+base+"\"}") {
		t.Errorf("a system of the working directory (isError %v):\n%s", isErr, text)
	}
	r := call(t, s, patience, "run-tests", map[string]any{"system": "swt-base"})
	if !r.IsError || !strings.HasSuffix(r.Text(), "\n\nNext: load-system {\"system\": \""+base+"\"}") {
		t.Errorf("its tests (isError %v):\n%s", r.IsError, r.Text())
	}
	if text, isErr := load(t, s, base); isErr || text != loadedFrom(base, "swt-base") {
		t.Errorf("by its file (isError %v):\n%s", isErr, text)
	}
	if text, isErr := load(t, s, "swt-app/swt-app.asd"); isErr || text != loadedFrom(app, "swt-app") {
		t.Errorf("by its relative file (isError %v):\n%s", isErr, text)
	}
	want(t, s, "(swt-app::app)", "=> 42")
	text, isErr = load(t, s, "nowhere/swt-app.asd")
	if !isErr || !strings.Contains(text, dir+"/nowhere/swt-app.asd") {
		t.Errorf("a file that is not there (isError %v):\n%s", isErr, text)
	}
	wantList(t, s, map[string]any{"type": "systems"}, "[Loaded Systems]\n- SWT-APP\n- SWT-BASE")
}
