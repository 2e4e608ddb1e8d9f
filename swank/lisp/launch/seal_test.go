package launch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"swank-mcp/swank/lisp/host"

	"swank-mcp/internal/rundir"
)

// TestDamagedCore: a core that has lost a part is not used, though it would start.
func TestDamagedCore(t *testing.T) {
	t.Parallel()
	c := coreConfig(t)
	p := startTest(t, c)
	if err := buildTestCore(t, p); err != nil {
		t.Fatal(err)
	}
	if q := startTest(t, c); !q.fromCore || len(q.notes) > 0 {
		t.Fatalf("a whole core is not used: notes %q", q.notes)
	}
	core := p.image.corePath()
	data, err := os.ReadFile(core)
	if err != nil {
		t.Fatal(err)
	}
	_ = os.Remove(core) // it is mapped by an image
	clear(data[len(data)*2/3 : len(data)*2/3+4096])
	if err := os.WriteFile(core, data, 0o600); err != nil {
		t.Fatal(err)
	}
	q := startTest(t, c)
	if notes := strings.Join(q.notes, "\n"); q.fromCore || !strings.Contains(notes, "not those that were written") {
		t.Errorf("from the core %v, notes %q", q.fromCore, notes)
	}
	if _, err := os.Stat(core); err == nil {
		t.Error("the damaged core is still there")
	}
}

// TestFailingStartLeavesTheCache: it is everybody's, and not at fault.
func TestFailingStartLeavesTheCache(t *testing.T) {
	t.Parallel()
	c := coreConfig(t)
	startTest(t, c).Close(context.Background())
	before, err := filepath.Glob(filepath.Join(c.CacheDir, "*", "*"))
	if err != nil || len(before) == 0 {
		t.Fatalf("nothing is cached: %v", err)
	}
	c.HeapMB = 1 // nothing starts with that
	var failure *host.StartError
	if p, err := Start(t.Context(), c, testCode("")); !errors.As(err, &failure) {
		if err == nil {
			p.Close(context.Background())
		}
		t.Fatalf("started with a heap of 1 MB: %v", err)
	}
	for _, name := range before {
		if _, err := os.Stat(name); err != nil {
			t.Errorf("a start that failed has removed %s", name)
		}
	}
}

// TestStartWithoutASCII: the name of a socket has to be understood in any locale.
func TestStartWithoutASCII(t *testing.T) {
	c := testConfig(t)
	dir := filepath.Join(t.TempDir(), "é")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", dir)
	t.Setenv("XDG_RUNTIME_DIR", dir)
	t.Setenv(rundir.Variable, "")
	for _, locale := range []string{"C", "C.UTF-8"} {
		t.Setenv("LC_ALL", locale)
		p := startTest(t, c)
		if got := eval(t, p, "(cl:+ 1 2)"); got != "(:return (:ok 3) 1)" {
			t.Errorf("in locale %s: %s", locale, got)
		}
	}
}
