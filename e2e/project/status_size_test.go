package project

import (
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"swank-mcp/e2e/harness"
	"swank-mcp/e2e/model"
	"swank-mcp/e2e/wire"
	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

var statusSize = flag.Int("status.files", 100, "files of TestStatusOfManyFiles, of 20 definitions each")

// TestStatusOfManyFiles holds how long project-status may take: for 1,000 files with
// 20,000 definitions 300 ms, with an edit and a live redefinition in them.
func TestStatusOfManyFiles(t *testing.T) {
	tier.Nightly(t)
	t.Parallel()
	dir := t.TempDir()
	w := &model.World{Dir: dir, Registry: "CL_SOURCE_REGISTRY=" + dir + "/:"}
	var components strings.Builder
	for i := range *statusSize {
		fmt.Fprintf(&components, ` (:file "f%d")`, i)
		text := "(in-package :many)\n"
		for j := range 20 {
			text += fmt.Sprintf("(defun f%d-%d (x)\n  \"Definition %d of file %d.\"\n  (list x %d))\n", i, j, j, i, j)
		}
		w.Write(t, fmt.Sprintf("f%d.lisp", i), text)
	}
	w.Write(t, "package.lisp", "(defpackage :many (:use :cl))")
	w.Write(t, "many.asd", `(defsystem "many" :serial t :components ((:file "package")`+components.String()+"))")
	w.Server = harness.StartWith(t, wire.Options{Dir: dir, Env: w.Environ(t)})
	ctx := await.Context(t)
	reply, err := w.Tool(ctx, "load-system", harness.Object{"system": "many", "timeout": 600})
	harness.Check(t, err)
	if !strings.Contains(reply.Text(), "Loaded: many") {
		t.Fatal(harness.Clip(reply.Text()))
	}
	w.Write(t, "f7.lisp", "(in-package :many)\n(defun f7-0 (x) x)\n")
	w.Do(t, model.Eval("(defun many::f8-0 (x) x)"))
	best := time.Hour
	for range 7 {
		start := time.Now()
		reply := w.Do(t, model.Tool("project-status", harness.Object{}))
		if took := time.Since(start); took < best {
			best = took
		}
		if !strings.Contains(reply, "f7.lisp has changed") || !strings.Contains(reply, "F8-0: an evaluation made it") {
			t.Fatal(reply)
		}
	}
	t.Logf("%d files, %d definitions: %v", *statusSize, 20**statusSize, best)
}
