package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"swank-mcp/e2e/wire"
	"swank-mcp/internal/await"
)

// truthWorld is a server in a directory of its own, which has the system mini:
// package.lisp, and a, b and c, of which none needs another one.
type truthWorld struct {
	*server
	dir, registry string
	saves         int
}

// miniSystem has the files of the system mini.
var miniSystem = map[string]string{
	"mini/mini.asd": `(defsystem "mini" :components ((:file "package")
  (:file "a" :depends-on ("package")) (:file "b" :depends-on ("package")) (:file "c" :depends-on ("package"))))`,
	"mini/package.lisp": "(defpackage :mini (:use :cl))",
	"mini/a.lisp":       "(in-package :mini)",
	"mini/b.lisp":       "(in-package :mini)",
	"mini/c.lisp":       "(in-package :mini)",
}

// newTruthWorld makes a world in a directory of the test.
func newTruthWorld(t *testing.T) *truthWorld {
	t.Helper()
	dir := t.TempDir()
	w := &truthWorld{dir: dir, registry: "CL_SOURCE_REGISTRY=" + dir + "/mini/:"}
	for name, text := range miniSystem {
		w.write(t, name, text)
	}
	w.server = startWith(t, wire.Options{Dir: dir, Env: w.environ(t)})
	return w
}

// environ has an output directory of its own, so no fasl of another test is stale.
func (w *truthWorld) environ(t *testing.T) []string {
	return environ(run.dir, w.registry, ourFasls(w.dir, t.TempDir()))
}

// write writes a file of the project.
func (w *truthWorld) write(t *testing.T, name, text string) {
	t.Helper()
	write(t, w.path(name), text)
}

// truthCall is one thing that is done: a tool is called, a file written, or
// nothing done for a while; without any of that the image is killed.
type truthCall struct {
	tool string
	args object
	file string
	text string
	wait time.Duration
}

// toolCall is a call of a tool.
func toolCall(name string, args object) truthCall { return truthCall{tool: name, args: args} }

// evalCall is an evaluation.
func evalCall(code string) truthCall { return toolCall("evaluate-lisp", object{"code": code}) }

// fileCall is an evaluation that a file of the project has.
func fileCall(file, text string) truthCall { return truthCall{file: file, text: text} }

// kills reports whether the call ends the image.
func (c truthCall) kills() bool { return c.tool == "" && c.file == "" && c.wait == 0 }

// path returns the path of a file of the project.
func (w *truthWorld) path(name string) string { return filepath.Join(w.dir, name) }

// do does c and returns the reply, which may be an error: that is part of it.
func (w *truthWorld) do(t *testing.T, c truthCall) string {
	t.Helper()
	switch {
	case c.kills():
		kill9(t, w.server)
	case c.wait > 0:
		time.Sleep(c.wait)
	case c.file != "":
		w.write(t, c.file, c.text)
	default:
		ctx := await.Context(t)
		r, err := w.Tool(ctx, c.tool, c.args)
		if err != nil { // the caller finds that it is no answer
			return fmt.Sprintf("no reply to %s: %v", c.tool, err)
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

// ask returns the value and the whole reply, whose notes tell what was lost.
func (w *truthWorld) ask(t *testing.T, expression string) (value, reply string) {
	t.Helper()
	reply = w.do(t, evalCall(asked(expression)))
	if m := firstValue.FindStringSubmatch(reply); m != nil {
		return m[1], reply
	}
	return reply, reply
}

// save saves the session; told is the text that says what the file lacks.
func (w *truthWorld) save(t *testing.T) (file, told string) {
	t.Helper()
	w.saves++
	file = fmt.Sprintf("saved%d.lisp", w.saves)
	told = w.do(t, toolCall("save-session", object{"file": file}))
	text, _ := os.ReadFile(w.path(file)) // none if there is nothing to save
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, ";") {
			told += "\n" + strings.TrimSpace(line)
		}
	}
	return file, told
}

var plainSBCL = []string{"--noinform", "--no-sysinit", "--no-userinit", "--non-interactive"}

// inPlainSBCL loads a saved file into a fresh SBCL, in which nothing of ours
// is, and returns the value of the expression there; file may be missing.
func (w *truthWorld) inPlainSBCL(t *testing.T, file, expression string) string {
	t.Helper()
	args := slices.Clone(plainSBCL)
	if _, err := os.Stat(w.path(file)); err == nil {
		args = append(args, "--load", file)
	}
	cmd := exec.CommandContext(t.Context(), "sbcl", append(args, "--eval",
		`(let ((*print-pretty* nil)) (format t "~&=> ~S~%" `+asked(expression)+`))`)...)
	cmd.Dir, cmd.Env = w.dir, w.environ(t)
	out, err := cmd.CombinedOutput()
	if m := firstValue.FindAllSubmatch(out, -1); err == nil && m != nil {
		return string(m[len(m)-1][1])
	}
	return fmt.Sprintf("%v: %s", err, clip(string(out)))
}

// lostPart begins where a report turns from what is there to what is not.
var lostPart = regexp.MustCompile(`(?is)\b(not restored|lost|gone|not in it|not in this file)\b.*`)

// toldLost reports whether a report names name as lost.
func toldLost(report, name string) bool { return hasName(lostPart.FindString(report), name) }

// hasName reports whether text has the name of a symbol, by itself.
func hasName(text, name string) bool {
	return regexp.MustCompile(`(?i)(^|[^\w*+-])` + regexp.QuoteMeta(name) + `($|[^\w*+-])`).MatchString(text)
}
