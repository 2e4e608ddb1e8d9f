package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// The project that fresh images are measured with, and what it needs.
const (
	freshProject = "e2e/testdata/ledger"
	freshSystem  = "ledger"
	freshPassed  = "all passed"
)

var freshNeeds = []string{"alexandria", "split-sequence", "cl-ppcre", "fiveam"}

// fresh measures run-tests in a fresh image beside plain SBCLs that test the same files,
// in turns: one that has what the project needs in a core, and one as a shell starts it.
// Each has as many fasls of the project's as the others have: none, all, or all but one.
func (l lab) fresh(t *table, n int) error {
	app := filepath.Join(l.dir, "app")
	if err := os.CopyFS(app, os.DirFS(freshProject)); err != nil {
		return err
	}
	core := filepath.Join(l.dir, "needs.core")
	load := fmt.Sprintf(`(progn (mapc (function asdf:load-system) '("%s")) (asdf:clear-configuration) (save-lisp-and-die %q))`,
		strings.Join(freshNeeds, `" "`), core)
	if err := l.sbcl("needs", "--noinform", "--non-interactive", "--eval", "(require :asdf)", "--eval", load); err != nil {
		return err
	}
	b, _, err := l.start("cache", "--project", app, "--toolsets", "all")
	if err != nil {
		return err
	}
	defer b.Close(10 * time.Second)
	run := func(fresh bool) error {
		ctx, stop := context.WithTimeout(context.Background(), 2*time.Minute)
		defer stop()
		r, err := b.Tool(ctx, "run-tests", map[string]any{"system": freshSystem, "fresh": fresh})
		if err == nil && !strings.Contains(r.Text(), freshPassed) {
			err = fmt.Errorf("run-tests: %s", r.Text())
		}
		return err
	}
	if err := run(false); err != nil {
		return err
	}
	if err := l.awaitProjectCore(); err != nil {
		return err
	}
	test := fmt.Sprintf("(asdf:test-system %q)", freshSystem)
	ways := []func() error{
		func() error {
			return l.sbcl("needs", "--core", core, "--noinform", "--non-interactive", "--eval", test)
		},
		func() error {
			return l.sbcl("shell", "--noinform", "--non-interactive", "--eval", "(require :asdf)", "--eval", test)
		},
		func() error { return run(true) },
	}
	states := []struct {
		name string
		make func(try int) error
	}{
		{"all files compiled", func(int) error { return errors.Join(l.removeKept(), os.RemoveAll(l.plainFasls())) }},
		{"no file edited", func(int) error { return nil }},
		{"one file edited", func(try int) error {
			time.Sleep(1100 * time.Millisecond) // ASDF compares whole seconds
			return appendLine(filepath.Join(app, "report", "summary.lisp"), fmt.Sprintf("; edit %d", try))
		}},
	}
	took := make([][3]times, len(states)) // by state and way
	for i := range n {
		for k, state := range states {
			if err := state.make(i); err != nil {
				return err
			}
			for w, way := range ways {
				one, err := repeat(1, way)
				if err != nil {
					return err
				}
				took[k][w] = append(took[k][w], one...)
			}
		}
	}
	for w, row := range []struct {
		name  string
		limit float64
	}{{"own files alone", 1.5}, {"from nothing", 0.5}} {
		for k, state := range states {
			p, f := ms(took[k][w].at(50)), ms(took[k][2].at(50))
			t.add(fmt.Sprintf("%s; %s, p50", row.name, state.name), "ms", p, f).
				judge(fmt.Sprintf("≤ %.1f ×", row.limit), f <= row.limit*p)
		}
	}
	return nil
}

// plainFasls is where plain SBCLs have the fasls of the project, each kind its own.
func (l lab) plainFasls() string { return filepath.Join(l.dir, "cache", "common-lisp", "sbcl-app") }

// sbcl runs a plain SBCL of that kind to its end.
func (l lab) sbcl(kind string, args ...string) error {
	return l.sbclIn(filepath.Join(l.dir, "app"), filepath.Join(l.plainFasls(), kind), args...)
}

// sbclIn runs a plain SBCL to its end that finds the systems in project, whose fasls are below fasls.
func (l lab) sbclIn(project, fasls string, args ...string) error {
	c := exec.Command("sbcl", args...)
	c.Env = append(l.env("cache"), "CL_SOURCE_REGISTRY="+project+"//:",
		fmt.Sprintf("ASDF_OUTPUT_TRANSLATIONS=%s/:%s/:", project, fasls))
	c.Dir = l.dir
	out, err := c.CombinedOutput()
	if err != nil {
		return fmt.Errorf("sbcl %q: %w\n%.2000s", args, err, out)
	}
	return nil
}

// awaitProjectCore waits for the core that the server builds in the background.
func (l lab) awaitProjectCore() error {
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if found, _ := filepath.Glob(filepath.Join(l.dir, "cache", "*", "project-*", "for-*")); len(found) > 0 {
			return nil
		}
	}
	return fmt.Errorf("no core of the project after two minutes")
}

// removeKept removes the fasls of the project that fresh images keep, when the last of these
// images has ended: it may still put some there.
func (l lab) removeKept() error {
	kept, err := filepath.Glob(filepath.Join(l.dir, "cache", "*", "project-*", "fasls"))
	time.Sleep(500 * time.Millisecond)
	for _, dir := range kept {
		if err == nil {
			err = os.RemoveAll(dir)
		}
	}
	return err
}

func appendLine(file, line string) error {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, line)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}
