//go:build unix

package model

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"swank-mcp/e2e/harness"
	"swank-mcp/e2e/wire"
	"swank-mcp/internal/await"
)

// World is a server in a directory of its own, with files.
type World struct {
	*harness.Server
	Dir, Registry string
	files         map[string]string // those at the beginning
	saves         int
}

// miniSystem has the files of the system mini: package.lisp, and a, b and c, of which none
// needs another one.
var miniSystem = map[string]string{
	"mini/mini.asd": `(defsystem "mini" :components ((:file "package")
  (:file "a" :depends-on ("package")) (:file "b" :depends-on ("package")) (:file "c" :depends-on ("package"))))`,
	"mini/package.lisp": "(defpackage :mini (:use :cl))",
	"mini/a.lisp":       "(in-package :mini)",
	"mini/b.lisp":       "(in-package :mini)",
	"mini/c.lisp":       "(in-package :mini)",
}

// NewWorld makes a world with the system mini in a directory of the test.
func NewWorld(t *testing.T) *World {
	t.Helper()
	return NewWorldOf(t, "/mini", miniSystem)
}

// NewWorldOf makes a world with these files, of which ASDF finds the systems below the
// directory.
func NewWorldOf(t *testing.T, systems string, files map[string]string) *World {
	t.Helper()
	dir := t.TempDir()
	w := &World{Dir: dir, Registry: "CL_SOURCE_REGISTRY=" + dir + systems + "/:", files: files}
	for name, text := range files {
		w.Write(t, name, text)
	}
	w.Server = harness.StartWith(t, wire.Options{Dir: dir, Env: w.Environ(t)})
	return w
}

// Environ has an output directory of its own, so no fasl of another test is stale.
func (w *World) Environ(t *testing.T) []string {
	return harness.Environ(harness.Run.Dir, w.Registry, harness.OurFasls(w.Dir, t.TempDir()))
}

// Write writes a file of the project.
func (w *World) Write(t *testing.T, name, text string) {
	t.Helper()
	harness.Write(t, w.Path(name), text)
}

// Call is one thing that is done: a tool is called, a file written, or
// nothing done for a while; without any of that the image is killed.
type Call struct {
	Tool string
	Args harness.Object
	File string
	Text string
	Wait time.Duration
	want string // what the reply of a [Run]'s call must match
}

// Tool returns a call of a tool.
func Tool(name string, args harness.Object) Call { return Call{Tool: name, Args: args} }

// Eval returns an evaluation.
func Eval(code string) Call { return Tool("evaluate-lisp", harness.Object{"code": code}) }

// File writes a file of the project.
func File(file, text string) Call { return Call{File: file, Text: text} }

// Mini writes a file of the system mini.
func Mini(name, text string) Call {
	return File("mini/"+name+".lisp", "(in-package :mini)\n"+text)
}

// LoadMini loads that system.
var LoadMini = Tool("load-system", harness.Object{"system": "mini"})

// kills reports whether the call ends the image.
func (c Call) kills() bool { return c.Tool == "" && c.File == "" && c.Wait == 0 }

// Path returns the path of a file of the project.
func (w *World) Path(name string) string { return filepath.Join(w.Dir, name) }

// Do does c and returns the reply, which may be an error: that is part of it.
func (w *World) Do(t *testing.T, c Call) string {
	t.Helper()
	switch {
	case c.kills():
		harness.Kill9(t, w.Server)
	case c.Wait > 0:
		time.Sleep(c.Wait)
	case c.File != "":
		w.Write(t, c.File, c.Text)
	default:
		ctx := await.Context(t)
		r, err := w.Tool(ctx, c.Tool, c.Args)
		if err != nil { // the caller finds that it is no answer
			return fmt.Sprintf("no reply to %s: %v", c.Tool, err)
		}
		return r.Text()
	}
	return ""
}

// asked is code for the value of an expression, read when it is evaluated:
// what it names may not be there.
func asked(expression string) string {
	return fmt.Sprintf(`(handler-case (handler-bind ((warning #'muffle-warning)) (eval (let ((*package* (find-package "COMMON-LISP-USER"))) (read-from-string %s)))) (error (c) (type-of c)))`, lispString(expression))
}

// lispString returns s as Lisp reads it.
func lispString(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

var firstValue = regexp.MustCompile(`(?m)^=> (.*)$`)

// Ask returns the value and the whole reply, whose notes tell what was lost.
func (w *World) Ask(t *testing.T, expression string) (value, reply string) {
	t.Helper()
	reply = w.Do(t, Eval(asked(expression)))
	if m := firstValue.FindStringSubmatch(reply); m != nil {
		return m[1], reply
	}
	return reply, reply
}

// Save saves the session; told is the text that says what the file lacks.
func (w *World) Save(t *testing.T) (file, told string) {
	t.Helper()
	w.saves++
	file = fmt.Sprintf("saved%d.lisp", w.saves)
	told = w.Do(t, Tool("save-session", harness.Object{"file": file}))
	text, _ := os.ReadFile(w.Path(file)) // none if there is nothing to save
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, ";") {
			told += "\n" + strings.TrimSpace(line)
		}
	}
	return file, told
}

var plainSBCL = []string{"--noinform", "--no-sysinit", "--no-userinit", "--non-interactive"}

// InPlainSBCL returns the value of an expression in a fresh SBCL, in which nothing of ours
// is, after it has loaded the files, of which any may be missing.
func (w *World) InPlainSBCL(t *testing.T, expression string, files ...string) string {
	t.Helper()
	args := slices.Clone(plainSBCL)
	for _, file := range files {
		if _, err := os.Stat(w.Path(file)); err == nil {
			args = append(args, "--load", file)
		}
	}
	cmd := await.Command(t, "sbcl", append(args, "--eval",
		`(let ((*print-pretty* nil)) (format t "~&=> ~S~%" `+asked(expression)+`))`)...)
	cmd.Dir, cmd.Env = w.Dir, w.Environ(t)
	out, err := cmd.CombinedOutput()
	if m := firstValue.FindAllSubmatch(out, -1); err == nil && m != nil {
		return string(m[len(m)-1][1])
	}
	return fmt.Sprintf("%v: %s", err, harness.Clip(string(out)))
}
