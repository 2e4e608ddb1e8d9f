package main

import (
	"bytes"
	"context"
	"flag"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"

	"swank-mcp/internal/await"
	"swank-mcp/internal/rundir"
)

var update = flag.Bool("update", false, "rewrite the golden parts of the scripts")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"swank-mcp": main})
}

func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/script", UpdateScripts: *update, RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv(rundir.Variable, env.WorkDir)
			return nil
		}})
}

func TestUsage(t *testing.T) {
	all := ""
	for _, page := range pages {
		all += page.text
		lines := strings.Split(strings.TrimSuffix(page.text, "\n"), "\n")
		if len(lines) > 24 {
			t.Errorf("%d lines, a screen has 24", len(lines))
		}
		for _, l := range lines {
			if n := utf8.RuneCountInString(l); n > 80 {
				t.Errorf("%d columns: %s", n, l)
			}
		}
	}
	var c config
	c.flags().VisitAll(func(f *flag.Flag) {
		_, rest, _ := strings.Cut(all, "  --"+f.Name+" ")
		line, _, _ := strings.Cut(rest, "\n")
		if n := strings.Count(all, "\n  --"+f.Name+" "); n != 1 {
			t.Errorf("--%s is in the usage %d times", f.Name, n)
			return
		}
		if f.DefValue != "" && f.DefValue != "false" && !strings.HasSuffix(line, "("+strings.ToLower(f.DefValue)+")") {
			t.Errorf("--%s: default %s is not in %q", f.Name, f.DefValue, line)
		}
	})
}

// The commands that a wrong one is answered with are those that the pages tell of.
func TestCommandsAreTold(t *testing.T) {
	_, _, errs := runOnce(t, nil, "dance")
	_, list, _ := strings.Cut(errs, "there are ")
	list, _, _ = strings.Cut(list, "\n")
	want := strings.Split(strings.ReplaceAll(list, " and ", ", "), ", ")
	var are []string
	for _, told := range toldCommands() {
		if told.name != "help" {
			are = append(are, told.name)
		}
		if told.doc == "" {
			t.Errorf("%s is not explained", told.name)
		}
	}
	slices.Sort(want)
	slices.Sort(are)
	if !slices.Equal(are, want) {
		t.Errorf("the pages tell of %v, the answer to a wrong command of %v", are, want)
	}
}

func runOnce(t *testing.T, stdin io.Reader, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	status = run(t.Context(), args, stdin, &out, &errs)
	return status, out.String(), errs.String()
}

// A terminal is told what this is instead of being left waiting.
func TestTerminal(t *testing.T) {
	tty, err := os.Open("/dev/ptmx")
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	defer tty.Close()
	status, out, errs := runOnce(t, tty)
	if status != 0 || !strings.Contains(out, "claude mcp add lisp -- "+program()) || errs != "" {
		t.Errorf("serve: status %d, stdout %q, stderr %q", status, out, errs)
	}
	if status, _, errs := runOnce(t, tty, "eval"); status != 2 || !strings.Contains(errs, "eval needs a form") {
		t.Errorf("eval: status %d, stderr %q", status, errs)
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	if status, out, _ := runOnce(t, null, "--cache-dir", t.TempDir()); status != 0 || out != "" {
		t.Errorf("the null device is taken for a terminal: status %d, stdout %q", status, out)
	}
}

// The end of the context is a clean end, with no image started.
func TestServeStops(t *testing.T) {
	in, w := io.Pipe()
	defer w.Close()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan int, 1)
	go func() { done <- run(ctx, []string{"--cache-dir", t.TempDir()}, in, io.Discard, io.Discard) }()
	await.Do(t, "it reads", func() { _, _ = io.WriteString(w, "\n") })
	cancel()
	if status := await.From(t, "the end of the server", done); status != 0 {
		t.Errorf("status %d", status)
	}
}

func TestSeconds(t *testing.T) {
	for in, want := range map[string]time.Duration{
		"30": 30 * time.Second, "0.5": 500 * time.Millisecond, "1m30s": 90 * time.Second, "250ms": 250 * time.Millisecond,
		"0": 0, "-1": 0, "": 0, "soon": 0, "1e300": 0, "NaN": 0, "Inf": 0, "-5s": 0,
	} {
		var s secondsFlag
		err := s.Set(in)
		if time.Duration(s) != want || (err == nil) != (want > 0) {
			t.Errorf("Set(%q) = %v, %v, want %v", in, time.Duration(s), err, want)
		}
	}
}
