package launch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"swank-mcp/internal/tier"
)

// projectCode loads the definition of each system into a core, as if it were all of it.
const projectCode = `
(defun preload (systems)
  (dolist (system systems) (load (second system))))`

func TestProjectCore(t *testing.T) {
	tier.More(t)
	t.Parallel()
	c := coreConfig(t)
	p, err := Start(t.Context(), c, testCode(projectCode))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close(context.Background())
	dir := t.TempDir()
	file := filepath.Join(dir, `odd "name".lisp`)
	write(t, file, "(defvar cl-user::*needed* 1)")
	needs := []Need{{Name: "needed", File: file, Files: []string{file}}}
	find := func(use string) string { return ProjectCore(t.Context(), c, testCode(projectCode), use) }
	build := func(use string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
		defer cancel()
		if err := p.BuildProjectCore(ctx, use, needs); err != nil {
			t.Fatal(err)
		}
	}
	needed := func(core string) string {
		t.Helper()
		with := c
		with.Core = core
		q, err := Start(t.Context(), with, testCode(projectCode))
		if err != nil {
			t.Fatal(err)
		}
		defer q.Close(context.Background())
		if !q.fromCore {
			t.Errorf("not from a core: %q", q.notes)
		}
		return eval(t, q, "cl-user::*needed*")
	}

	if core := find("one"); core != "" {
		t.Fatalf("a core before there is any: %s", core)
	}
	build("one")
	first := find("one")
	if got := needed(first); got != "(:return (:ok 1) 1)" {
		t.Errorf("got %s", got)
	}
	if core := find("other"); core != "" {
		t.Errorf("another use has %s", core)
	}
	begun := time.Now()
	build("other") // finds the same
	if core := find("other"); core != first {
		t.Errorf("the same needs have %s and %s", first, core)
	}
	t.Logf("marking took %v", time.Since(begun))

	// What went into it changes: the core goes.
	write(t, file, "(defvar cl-user::*needed* 22)")
	if core := find("one"); core != "" {
		t.Fatalf("still %s", core)
	}
	if _, err := os.Stat(filepath.Dir(first)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is still there: %v", filepath.Dir(first), err)
	}
	build("one")
	if got := needed(find("one")); got != "(:return (:ok 22) 1)" {
		t.Errorf("got %s", got)
	}

	// One that does not start is replaced by what does.
	write(t, find("one"), "no core at all")
	with := c
	with.Core = find("one")
	q, err := Start(t.Context(), with, testCode(projectCode))
	if err != nil {
		t.Fatal(err)
	}
	q.Close(context.Background())
	if core := find("one"); core != "" {
		t.Errorf("still %s", core)
	}

	// A build that is given up leaves nothing.
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := p.BuildProjectCore(ctx, "one", needs); err == nil {
		t.Error("a build within 50 ms")
	}
	if core := find("one"); core != "" {
		t.Errorf("a core of half a build: %s", core)
	}
	if left := leftovers(t, c); len(left) > 0 {
		t.Errorf("left in the cache: %q", left)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := p.BuildProjectCore(t.Context(), "one", needs); !errors.Is(err, ErrChanging) {
		t.Errorf("without the file: %v", err)
	}
}

// A builder that finds a file newer than its fasl leaves it to a session.
func TestProjectCoreOfChangedFile(t *testing.T) {
	t.Parallel()
	c := coreConfig(t)
	code := testCode(`(defun preload (systems) (error "~A has changed since it was compiled" (second (first systems))))`)
	p, err := Start(t.Context(), c, code)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close(context.Background())
	file := filepath.Join(t.TempDir(), "changed.lisp")
	write(t, file, "1")
	if err := p.BuildProjectCore(t.Context(), "one", []Need{{Name: "changed", File: file, Files: []string{file}}}); !errors.Is(err, ErrChanging) {
		t.Errorf("a changed file: %v", err)
	}
	if core := ProjectCore(t.Context(), c, code, "one"); core != "" {
		t.Errorf("a core all the same: %s", core)
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
