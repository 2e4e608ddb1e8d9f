package clients

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"swank-mcp/e2e/harness"
	"swank-mcp/e2e/wire"
	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

// implementations are the Lisps, beside SBCL, that Debian has and that people
// attach to. The command loads the file that is its last argument.
var implementations = []struct {
	name    string
	command []string
}{
	{"SBCL", []string{"sbcl", "--noinform", "--disable-ldb", "--no-sysinit", "--no-userinit", "--load"}},
	{"ECL", []string{"ecl", "--norc", "--load"}},
	// Without -on-error it ends at the first error: a script, it thinks.
	{"CLISP", []string{"clisp", "-norc", "-q", "-on-error", "debug"}},
}

// A feature is a row of the table in docs/implementations.md.
type feature struct {
	name  string
	steps []featureStep
}

type featureStep struct {
	tool      string
	arguments map[string]any
	want      string // a regular expression for the reply's text
}

func evaluating(code, want string) featureStep {
	return featureStep{"evaluate-lisp", harness.Object{"code": code}, want}
}

var features = []feature{
	{"values, as they print", []featureStep{evaluating(`(values 1 "two" 'three)`, `^=> 1\n=> "two"\n=> THREE\b`)}},
	{"standard output and error output", []featureStep{evaluating(`(format t "out~%") (format *error-output* "err~%") 1`, `^\[stdout\]\nout\n\n\[stderr\]\nerr\n\n=> 1$`)}},
	{"characters beyond ASCII", []featureStep{evaluating(`"λ 🙂"`, `^=> "λ 🙂"$`)}},
	{"functions and variables last", []featureStep{
		evaluating(`(defun twice (x) (* 2 x))`, `=> TWICE`), evaluating(`(defvar *n* 20)`, `=> \*N\*`),
		evaluating(`(twice (incf *n*))`, `^=> 42$`), evaluating(`(list * -)`, `^=> \(42 \(LIST \* -\)\)$`)}},
	{"the package lasts; the package argument", []featureStep{
		evaluating(`(defpackage :other (:use :cl)) (in-package :other)`, `OTHER`),
		evaluating(`(defun here () :here) (package-name *package*)`, `^=> "OTHER"$`),
		{"evaluate-lisp", harness.Object{"code": "(cl:package-name cl:*package*)", "package": "keyword"}, `^=> "KEYWORD"$`},
		evaluating(`(here)`, `^=> :HERE$`), evaluating(`(in-package :cl-user)`, `COMMON-LISP-USER`)}},
	{"errors: type and message", []featureStep{evaluating(`(error "no ~A" 'good)`, `^\[ERROR\] SIMPLE-ERROR\nno GOOD\n`), evaluating(`(/ 1 0)`, `^\[ERROR\] DIVISION-BY-ZERO\n`)}},
	{"errors: a backtrace that names the user's function", []featureStep{
		evaluating(`(defun wrong (x) (list (car x)))`, `WRONG`), evaluating(`(list (wrong 42))`, `(?s)^\[ERROR\] .*\[Backtrace\]\n.*WRONG`)}},
	{"errors: no line for the bridge's own frames", []featureStep{evaluating(`(list (wrong 42))`, `^(?:[^S]|S[^W]|SW[^A])*$`)}},
	{"the user's handlers come first", []featureStep{evaluating(`(handler-case (error "x") (error () :handled))`, `^=> :HANDLED$`)}},
	{"warnings in a section of their own", []featureStep{evaluating(`(progn (warn "careful") 3)`, `^\[warnings\]\nWARNING: careful\n\n=> 3$`)}},
	{"unbalanced code, with its place", []featureStep{evaluating("1\n(+ 1", `^\[ERROR\] END-OF-FILE\n.*line 2, column 1`)}},
	{"an unknown package, with those near it", []featureStep{{"evaluate-lisp", harness.Object{"code": "1", "package": "othr"}, `^\[ERROR\] PACKAGE-ERROR\n(?s:.*)OTHER`}}},
	{"reading input never hangs", []featureStep{evaluating(`(read-line)`, `^\[ERROR\] END-OF-FILE`)}},
	{"`list-definitions`", []featureStep{{"list-definitions", harness.Object{"type": "functions"}, `(?m)^- TWICE \(X\)$`}, {"list-definitions", harness.Object{"type": "variables"}, `(?m)^- \*N\* = 21$`}}},
	{"`list-packages`", []featureStep{{"list-packages", harness.Object{"filter": "other"}, `^- OTHER, made by this session`}}},
	{"`describe-symbol`", []featureStep{{"describe-symbol", harness.Object{"name": "twice"}, `(?s)^TWICE, internal symbol of COMMON-LISP-USER\n.*\(TWICE X\)`}}},
	{"`find-definition` of what the session defined", []featureStep{{"find-definition", harness.Object{"name": "twice"}, `\(defun twice \(x\) \(\* 2 x\)\)`}}},
	{"`apropos-search`", []featureStep{{"apropos-search", harness.Object{"pattern": "twice"}, `(?m)^.*TWICE`}}},
	{"`macroexpand-form`", []featureStep{{"macroexpand-form", harness.Object{"form": "(when a b)"}, `\(IF A`}}},
	{"`load-system`, by ASDF", []featureStep{
		evaluating(`(require :asdf)`, `=> `),
		{"load-system", harness.Object{"system": "alexandria", "timeout": 200}, `(?m)^Loaded: alexandria`}}},
	{"`session-status`", []featureStep{{"session-status", harness.Object{}, `(?s)^Image: running, attached.*Definitions: `}}},
	{"an endless loop is stopped", []featureStep{
		{"evaluate-lisp", harness.Object{"code": "(loop)", "timeout": 1}, `^\[TIMEOUT\] Evaluation exceeded 1 second\n\n\[Backtrace\]`}, evaluating(`(twice 4)`, `^=> 8$`)}},
	{"`reset-session`", []featureStep{{"reset-session", harness.Object{}, `^Session reset\.`}, evaluating(`(fboundp 'twice)`, `^=> NIL$`)}},
	{"a stack overflow is an error", []featureStep{evaluating(`(labels ((f (n) (1+ (f n)))) (f 0))`, `^\[ERROR\] STORAGE-CONDITION`), evaluating(`(+ 1 2)`, `^=> 3$`)}},
}

// What works in which Lisp: the table of docs/implementations.md is what this
// test has seen. Each feature has a Lisp to itself from where one has been lost.
func TestImplementations(t *testing.T) {
	tier.Nightly(t)
	t.Parallel()
	columns := make([][]bool, len(implementations))
	lost := make([]bytes.Buffer, len(implementations)) // what was seen instead
	t.Run("run", func(t *testing.T) {
		for i, im := range implementations {
			t.Run(im.name, func(t *testing.T) {
				t.Parallel()
				columns[i] = tryFeatures(t, im.command, &lost[i])
			})
		}
	})
	if t.Failed() {
		return
	}
	var b strings.Builder
	b.WriteString("| |")
	for _, im := range implementations {
		fmt.Fprintf(&b, " %s |", im.name)
	}
	b.WriteString("\n| --- |" + strings.Repeat(" --- |", len(implementations)) + "\n")
	for row, f := range features {
		fmt.Fprintf(&b, "| %s |", f.name)
		for i := range implementations {
			b.WriteString(map[bool]string{true: " yes |", false: " no |"}[columns[i][row]])
		}
		b.WriteByte('\n')
	}
	compareTable(t, harness.InTree("docs", "implementations.md"), b.String())
	if t.Failed() {
		for i, im := range implementations {
			t.Logf("%s:\n%s", im.name, &lost[i])
		}
	}
	t.Run("lent", lendCLISP)
}

// compareTable holds the part of a page between its markers equal to table.
func compareTable(t *testing.T, page, table string) {
	t.Helper()
	const begin, end = "<!-- made by a test: begin -->\n", "<!-- end -->"
	data, err := os.ReadFile(page)
	harness.Check(t, err)
	before, rest, ok := strings.Cut(string(data), begin)
	old, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no markers %q and %q", page, begin, end)
	}
	switch {
	case old == table:
	case *harness.Update:
		harness.Check(t, os.WriteFile(page, []byte(before+begin+table+end+after), 0o644))
	default:
		t.Errorf("%s says otherwise; go test ./e2e/clients -run %s -update rewrites it. Seen:\n%s", page, t.Name(), table)
	}
}

// tryFeatures runs every feature in a Lisp that command starts, and writes what does not
// work into lost.
func tryFeatures(t *testing.T, command []string, lost io.Writer) (works []bool) {
	var s *harness.Server
	for _, f := range features {
		if s == nil {
			s = harness.Attached(t, otherLisp(t, command, ":dont-close t"))
			// Somebody must have defined what later rows use.
			for _, g := range features[:len(works)] {
				if strings.HasPrefix(g.name, "functions and") || strings.HasPrefix(g.name, "the package lasts") {
					tryFeature(s, g, lost)
				}
			}
		}
		ok, alive := tryFeature(s, f, lost)
		works = append(works, ok)
		if !alive {
			s = nil
		}
	}
	return works
}

// tryFeature reports whether f works and whether its Lisp still answers.
func tryFeature(s *harness.Server, f feature, lost io.Writer) (works, alive bool) {
	for _, step := range f.steps {
		text, err := tryStep(s, step)
		if err != nil || !regexp.MustCompile(step.want).MatchString(text) {
			fmt.Fprintf(lost, "%s: %s %v: %v, got\n%s\n", f.name, step.tool, step.arguments, err, harness.Tail(text, 600))
			text, err := tryStep(s, featureStep{"evaluate-lisp", harness.Object{"code": "(+ 1 2)", "timeout": 5}, ""})
			alive := err == nil && strings.HasPrefix(text, "=> 3")
			if !alive {
				fmt.Fprintf(lost, "\tthe Lisp does not go on: %v, %s\n", err, harness.Tail(text, 600))
			}
			return false, alive
		}
	}
	return true, true
}

func tryStep(s *harness.Server, step featureStep) (string, error) {
	p, err := s.GoTool(step.tool, step.arguments, wire.CallOptions{})
	if err != nil {
		return "", err
	}
	var r wire.Result
	ctx, stop := await.Limited(context.Background())
	defer stop()
	err = p.Wait(ctx, &r)
	return r.Text(), err
}

// lendCLISP lends one as docs/attach.md says: its owner has it back when the agent has gone.
func lendCLISP(t *testing.T) {
	p := otherLisp(t, implementations[2].command, "")
	s := harness.Attached(t, p)
	harness.Want(t, s, "(defun borrowed () 42) (borrowed)", "=> 42\n…Emacs among them, wait as well. CLISP has none.…")
	harness.SaysNot(t, p.Out.String(), "back again") // create-server has not returned while the agent is there
	s.Close(await.Ceiling)
	if await.Until(func() bool { return strings.Contains(p.Out.String(), "back again: 42") }) != nil {
		t.Errorf("create-server has not returned:\n%s", harness.Tail(p.Out.String(), 600))
	}
}

// otherLisp starts a Lisp that serves Swank with those arguments of create-server.
func otherLisp(t *testing.T, command []string, arguments string) *harness.Person {
	t.Helper()
	if command[0] == "sbcl" {
		harness.CompileSwank(t) // other tests compile it for SBCL, too
	}
	script := filepath.Join(t.TempDir(), "serve.lisp")
	// ECL's compiler proper is a C compiler: it would take Swank a minute.
	code := fmt.Sprintf(`#+ecl (ext:install-bytecodes-compiler)
(load %q)
(handler-bind ((warning #'muffle-warning)) (funcall (intern "INIT" "SWANK-LOADER")))
(funcall (intern "CREATE-SERVER" "SWANK") :port 0 %s)
(format t "back again: ~A~%%" (if (fboundp (quote borrowed)) (borrowed)))
(finish-output)
(loop (sleep 1))
`, filepath.Join(*harness.AttachedSwank, "swank-loader.lisp"), arguments)
	harness.Check(t, os.WriteFile(script, []byte(code), 0o600))
	cmd := exec.Command(command[0], append(command[1:], script)...)
	cmd.Env = harness.Environ(harness.Run.Dir)
	p, err := harness.Serve(cmd, 2*time.Minute)
	harness.Check(t, err)
	p.Watch(t)
	return p
}
