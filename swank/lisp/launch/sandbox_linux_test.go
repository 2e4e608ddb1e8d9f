package launch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"swank-mcp/internal/files"
	"swank-mcp/internal/tier"
	"swank-mcp/swank/lisp/host"
)

// The first image in a sandbox starts from a core, which was built outside of it, as what it
// would compile others would load.
func TestSandboxStartsFromTheCore(t *testing.T) {
	tier.More(t)
	t.Parallel()
	c := testConfig(t)
	c.CacheDir, c.NoCore = t.TempDir(), false
	var wrapped []Confined
	started, ended := 0, atomic.Bool{}
	c.Sandbox = &Sandbox{Wrap: func(_ context.Context, cmd *exec.Cmd, c Confined) (*Wrapped, error) {
		wrapped = append(wrapped, c)
		cmd.Env = append(os.Environ(), "SANDBOX_OF_TEST="+c.Own)
		return &Wrapped{Started: func(pid int) { started = pid }, End: func() { ended.Store(true) }}, nil
	}}
	p, err := Start(t.Context(), c, testCode(""))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close(context.Background())
	if !p.FromCore() || len(p.Remarks()) > 0 {
		t.Errorf("from core %v, remarks %q", p.FromCore(), p.Remarks())
	}
	if len(wrapped) != 1 || wrapped[0].Own != p.Dir() || wrapped[0].Cache != c.CacheDir || wrapped[0].HeapMB != c.HeapMB || !slices.Contains(wrapped[0].Reads, p.core) {
		t.Errorf("wrapped %+v", wrapped)
	}
	if started != p.PID() {
		t.Errorf("the process %d was started, and the image is %d", started, p.PID())
	}
	if got := eval(t, p, `(sb-ext:posix-getenv "SANDBOX_OF_TEST")`); !strings.Contains(got, p.Dir()) {
		t.Errorf("got %s", got)
	}
	if ProjectCore(t.Context(), c, testCode(""), "use") != "" || p.KeptFasls() != "" {
		t.Error("the image writes what others load")
	}
	if ended.Load() {
		t.Error("the sandbox has ended before the image")
	}
	p.Close(t.Context())
	if !ended.Load() {
		t.Error("the sandbox has not ended with the image")
	}
}

// Without a core, an image in a sandbox compiles all in its own directory.
func TestSandboxWithoutCore(t *testing.T) {
	tier.Nightly(t)
	t.Parallel()
	c := testConfig(t)
	c.CacheDir = t.TempDir()
	c.Sandbox = &Sandbox{Wrap: func(context.Context, *exec.Cmd, Confined) (*Wrapped, error) { return nil, nil }}
	p, err := Start(t.Context(), c, testCode(""))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close(context.Background())
	if entries, err := os.ReadDir(c.CacheDir); err != nil || len(entries) > 0 {
		t.Errorf("the cache has %v, %v", entries, err)
	}
}

// An image that cannot be confined is not started in another way.
func TestSandboxRefuses(t *testing.T) {
	t.Parallel()
	tries := 0
	c := testConfig(t)
	c.Sandbox = &Sandbox{Wrap: func(context.Context, *exec.Cmd, Confined) (*Wrapped, error) {
		tries++
		return nil, errors.New("no walls here")
	}}
	_, err := Start(t.Context(), c, testCode(""))
	var start *host.StartError
	if !errors.As(err, &start) || start.Problem != "no image is started in the sandbox: no walls here" || tries != 1 {
		t.Errorf("%d tries, %v", tries, err)
	}
}

// Who puts another socket in the place of an image's is not connected to.
func TestSandboxChecksTheSocket(t *testing.T) {
	t.Parallel()
	c := testConfig(t)
	c.Sandbox = &Sandbox{Wrap: func(context.Context, *exec.Cmd, Confined) (*Wrapped, error) { return nil, nil }}
	p, other := startTest(t, c), startTest(t, testConfig(t))
	dial := func() net.Conn {
		network, address := p.Address() // vet 1.26 panics on net.Dial(p.Address())
		conn, err := net.Dial(network, address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	if err := p.Check(dial()); err != nil {
		t.Errorf("its own socket: %v", err)
	}
	_, mine := p.Address()
	_, theirs := other.Address()
	if err := errors.Join(os.Remove(mine), os.Symlink(theirs, mine)); err != nil {
		t.Fatal(err)
	}
	if err := p.Check(dial()); err == nil {
		t.Error("a link to another image's socket passes for its own")
	}
	if err := other.Check(dial()); err != nil {
		t.Errorf("an image that is in no sandbox: %v", err)
	}
}

// What makes the core runs outside of the sandbox: it is nothing that a session may change.
func TestSandboxKeepsOutsideWhatRunsOutside(t *testing.T) {
	t.Parallel()
	base := testConfig(t)
	program, err := exec.LookPath("sbcl")
	if err != nil {
		t.Fatal(err)
	}
	project := t.TempDir()
	linked := filepath.Join(project, "sbcl")
	if err := os.Symlink(program, linked); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(c *Config){
		"SBCL":      func(c *Config) { c.SBCL = linked },
		"Swank":     func(c *Config) { c.SwankDir = fakeSwank(t, filepath.Join(project, "slime")) },
		"the cache": func(c *Config) { c.CacheDir = filepath.Join(project, "cache") },
	} {
		c := base
		change(&c)
		c.Sandbox = &Sandbox{
			Writes: func(path string) bool { return strings.HasPrefix(path, project) },
			Wrap:   func(context.Context, *exec.Cmd, Confined) (*Wrapped, error) { return nil, errors.New("it was started") },
		}
		_, err := Start(t.Context(), c, testCode(""))
		var start *host.StartError
		if !errors.As(err, &start) || !strings.HasPrefix(start.Problem, "no image is started in the sandbox: "+name+", "+project) || start.Advice == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What is put in the place of a checkpoint's core just before an image goes on from it is refused at once, and
// what is put there after the core was checked is not started: the checked one is.
func TestResumeStartsTheCoreThatWasChecked(t *testing.T) {
	tier.More(t)
	t.Parallel()
	c := coreConfig(t)
	if err := buildTestCore(t, startTest(t, c)); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(startTest(t, c).image.corePath())
	if err != nil {
		t.Fatal(err)
	}
	sum, err := checksum(bytes.NewReader(text[:len(text)-int(sealSize)]))
	if err != nil {
		t.Fatal(err)
	}
	core := filepath.Join(t.TempDir(), "x.core")
	if err := os.WriteFile(core, text, 0o600); err != nil {
		t.Fatal(err)
	}
	swap := func() {
		if err := errors.Join(os.Remove(core), syscall.Mkfifo(core, 0o600)); err != nil {
			t.Error(err)
		}
	}
	c.Sandbox = &Sandbox{Wrap: func(_ context.Context, cmd *exec.Cmd, _ Confined) (*Wrapped, error) {
		swap()
		cmd.Env = os.Environ()
		return &Wrapped{}, nil
	}}
	p, err := Resume(t.Context(), c, testCode(""), core, sum)
	if err != nil {
		t.Fatalf("the core that was checked is not started: %v", err)
	}
	defer p.Close(context.Background())
	if to, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", p.PID(), coreFD)); strings.HasPrefix(to, core) {
		t.Errorf("the image keeps its core open: %s", to)
	}
	if q, err := Resume(t.Context(), c, testCode(""), core, sum); !errors.Is(err, files.ErrNotPlain) {
		if err == nil {
			q.Close(context.Background())
		}
		t.Errorf("of a pipe: %v, want %v", err, files.ErrNotPlain)
	}
}
