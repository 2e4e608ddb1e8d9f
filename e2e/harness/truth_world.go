//go:build unix

package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"swank-mcp/e2e/wire"
	"swank-mcp/internal/await"
)

// TruthWorld is a server in a directory of its own, which has the system mini:
// package.lisp, and a, b and c, of which none needs another one.
type TruthWorld struct {
	*Server
	Dir, Registry string
	saves         int
}

// MiniSystem has the files of the system mini.
var MiniSystem = map[string]string{
	"mini/mini.asd": `(defsystem "mini" :components ((:file "package")
  (:file "a" :depends-on ("package")) (:file "b" :depends-on ("package")) (:file "c" :depends-on ("package"))))`,
	"mini/package.lisp": "(defpackage :mini (:use :cl))",
	"mini/a.lisp":       "(in-package :mini)",
	"mini/b.lisp":       "(in-package :mini)",
	"mini/c.lisp":       "(in-package :mini)",
}

// NewTruthWorld makes a world in a directory of the test.
func NewTruthWorld(t *testing.T) *TruthWorld {
	t.Helper()
	dir := t.TempDir()
	w := &TruthWorld{Dir: dir, Registry: "CL_SOURCE_REGISTRY=" + dir + "/mini/:"}
	for name, text := range MiniSystem {
		w.Write(t, name, text)
	}
	w.Server = StartWith(t, wire.Options{Dir: dir, Env: w.Environ(t)})
	return w
}

// Environ has an output directory of its own, so no fasl of another test is stale.
func (w *TruthWorld) Environ(t *testing.T) []string {
	return Environ(Run.Dir, w.Registry, OurFasls(w.Dir, t.TempDir()))
}

// Write writes a file of the project.
func (w *TruthWorld) Write(t *testing.T, name, text string) {
	t.Helper()
	Write(t, w.Path(name), text)
}

// TruthCall is one thing that is done: a tool is called, a file written, or
// nothing done for a while; without any of that the image is killed.
type TruthCall struct {
	Tool string
	Args Object
	File string
	Text string
	Wait time.Duration
}

// ToolCall is a call of a tool.
func ToolCall(name string, args Object) TruthCall { return TruthCall{Tool: name, Args: args} }

// EvalCall is an evaluation.
func EvalCall(code string) TruthCall { return ToolCall("evaluate-lisp", Object{"code": code}) }

// FileCall is an evaluation that a file of the project has.
func FileCall(file, text string) TruthCall { return TruthCall{File: file, Text: text} }

// Kills reports whether the call ends the image.
func (c TruthCall) Kills() bool { return c.Tool == "" && c.File == "" && c.Wait == 0 }

// Path returns the path of a file of the project.
func (w *TruthWorld) Path(name string) string { return filepath.Join(w.Dir, name) }

// Do does c and returns the reply, which may be an error: that is part of it.
func (w *TruthWorld) Do(t *testing.T, c TruthCall) string {
	t.Helper()
	switch {
	case c.Kills():
		Kill9(t, w.Server)
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

// Asked is code for the value of an expression, read when it is evaluated:
// what it names may not be there.
func Asked(expression string) string {
	return fmt.Sprintf(`(handler-case (handler-bind ((warning #'muffle-warning)) (eval (let ((*package* (find-package "COMMON-LISP-USER"))) (read-from-string %s)))) (error (c) (type-of c)))`, LispString(expression))
}

// LispString returns s as Lisp reads it.
func LispString(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

var FirstValue = regexp.MustCompile(`(?m)^=> (.*)$`)

// Ask returns the value and the whole reply, whose notes tell what was lost.
func (w *TruthWorld) Ask(t *testing.T, expression string) (value, reply string) {
	t.Helper()
	reply = w.Do(t, EvalCall(Asked(expression)))
	if m := FirstValue.FindStringSubmatch(reply); m != nil {
		return m[1], reply
	}
	return reply, reply
}

// Save saves the session; told is the text that says what the file lacks.
func (w *TruthWorld) Save(t *testing.T) (file, told string) {
	t.Helper()
	w.saves++
	file = fmt.Sprintf("saved%d.lisp", w.saves)
	told = w.Do(t, ToolCall("save-session", Object{"file": file}))
	text, _ := os.ReadFile(w.Path(file)) // none if there is nothing to save
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, ";") {
			told += "\n" + strings.TrimSpace(line)
		}
	}
	return file, told
}

var PlainSBCL = []string{"--noinform", "--no-sysinit", "--no-userinit", "--non-interactive"}

// InPlainSBCL loads a saved file into a fresh SBCL, in which nothing of ours
// is, and returns the value of the expression there; file may be missing.
func (w *TruthWorld) InPlainSBCL(t *testing.T, file, expression string) string {
	t.Helper()
	args := slices.Clone(PlainSBCL)
	if _, err := os.Stat(w.Path(file)); err == nil {
		args = append(args, "--load", file)
	}
	cmd := await.Command(t, "sbcl", append(args, "--eval",
		`(let ((*print-pretty* nil)) (format t "~&=> ~S~%" `+Asked(expression)+`))`)...)
	cmd.Dir, cmd.Env = w.Dir, w.Environ(t)
	out, err := cmd.CombinedOutput()
	if m := FirstValue.FindAllSubmatch(out, -1); err == nil && m != nil {
		return string(m[len(m)-1][1])
	}
	return fmt.Sprintf("%v: %s", err, Clip(string(out)))
}
