package main

import (
	"context"
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
// in turns: one that has what the project needs in a core, and one as a shell starts it,
// which has no fasls of the project but those of what it needs.
func (l lab) fresh(t *table, n int) error {
	app := filepath.Join(l.dir, "app")
	if err := os.CopyFS(app, os.DirFS(freshProject)); err != nil {
		return err
	}
	core := filepath.Join(l.dir, "needs.core")
	load := fmt.Sprintf(`(progn (mapc (function asdf:load-system) '("%s")) (asdf:clear-configuration) (save-lisp-and-die %q))`,
		strings.Join(freshNeeds, `" "`), core)
	if err := l.sbcl("--noinform", "--non-interactive", "--eval", "(require :asdf)", "--eval", load); err != nil {
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
	var beside, whole, anew, edited, again times
	for i := range n {
		for _, way := range []struct {
			to  *times
			run func() error
		}{
			{&beside, func() error { return l.sbcl("--core", core, "--noinform", "--non-interactive", "--eval", test) }},
			{&whole, func() error {
				return l.sbcl("--noinform", "--non-interactive", "--eval", "(require :asdf)", "--eval", test)
			}},
			{&anew, func() error { return run(true) }},
			{&again, func() error { return run(true) }},
			{&edited, func() error { return run(true) }},
		} {
			switch way.to {
			case &edited:
				if err := appendLine(filepath.Join(app, "report", "summary.lisp"), fmt.Sprintf("; edit %d", i)); err != nil {
					return err
				}
			case &anew:
				if err := l.removeKept(); err != nil {
					return err
				}
			case &again:
			default: // it compiles the project
				if err := os.RemoveAll(filepath.Join(l.dir, "cache", "common-lisp", "sbcl-app")); err != nil {
					return err
				}
			}
			took, err := repeat(1, way.run)
			if err != nil {
				return err
			}
			*way.to = append(*way.to, took...)
		}
	}
	for _, row := range []struct {
		name  string
		plain times
		limit float64
	}{
		{"own files alone, compiled", beside, 1.5},
		{"from nothing", whole, 0.5},
	} {
		for _, fresh := range []struct {
			name  string
			times times
		}{{"all files compiled", anew}, {"one file edited", edited}, {"no file edited", again}} {
			p, f := ms(row.plain.at(50)), ms(fresh.times.at(50))
			t.add(fmt.Sprintf("%s; fresh: %s, p50", row.name, fresh.name), "ms", p, f).
				judge(fmt.Sprintf("≤ %.1f ×", row.limit), f <= row.limit*p)
		}
	}
	return nil
}

// sbcl runs a plain SBCL to its end.
func (l lab) sbcl(args ...string) error {
	c := exec.Command("sbcl", args...)
	app := filepath.Join(l.dir, "app")
	c.Env = append(l.env("cache"), "CL_SOURCE_REGISTRY="+app+"//:",
		fmt.Sprintf("ASDF_OUTPUT_TRANSLATIONS=%s/:%s/:", app, filepath.Join(l.dir, "cache", "common-lisp", "sbcl-app")))
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

// removeKept removes the fasls of the project that fresh images keep.
func (l lab) removeKept() error {
	kept, err := filepath.Glob(filepath.Join(l.dir, "cache", "*", "project-*", "fasls"))
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
