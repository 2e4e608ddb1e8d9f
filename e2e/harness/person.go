//go:build unix

package harness

import (
	"bytes"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"swank-mcp/internal/await"
	"swank-mcp/swank"
)

var (
	AttachedFlag  = flag.Bool("attached", false, "run every test that can be in an image that is attached to")
	AttachedSBCL  = flag.String("attached-sbcl", "sbcl", "the SBCL that people run in tests of --attach")
	AttachedSwank = flag.String("attached-swank", "/usr/share/common-lisp/source/slime", "their directory of Swank")
)

// Person is somebody who runs a Lisp with Swank in it, as SLIME would.
type Person struct {
	t       *testing.T
	Cmd     *exec.Cmd
	Address string // of Swank
	Port    int
	Conn    *swank.Conn // theirs, nil until asked
	Out     *Record     // of stdout and stderr
	Ended   chan struct{}
}

// announced matches the line that Swank prints when it listens.
var announced = regexp.MustCompile(`Swank started at port: (\d+)\.`)

// Record keeps what is written to it.
type Record struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write keeps b.
func (r *Record) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.b.Write(b)
}

// String returns what was written so far.
func (r *Record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.b.String()
}

// NewPerson starts a Lisp that serves Swank until the end of the test. More is
// code that it evaluates before that; arguments are those of create-server.
func NewPerson(t *testing.T, more string, arguments ...string) *Person {
	t.Helper()
	return PersonAt(t, 0, Environ(Run.Dir), more, arguments...)
}

// PersonAt does it from a core with Swank in it such as SLIME's manual has people make,
// in a twentieth of the time that loading Swank takes.
func PersonAt(t *testing.T, port int, env []string, more string, arguments ...string) *Person {
	t.Helper()
	p, err := QuickPerson(port, "", env, more, arguments...)
	Check(t, err)
	p.Watch(t)
	return p
}

// LoadingPerson is as newPerson, but their Lisp loads Swank, as M-x slime has it.
func LoadingPerson(t *testing.T, env []string, more string) *Person {
	t.Helper()
	CompileSwank(t)
	loader, err := SwankLoader()
	Check(t, err)
	p, err := LaunchPerson(nil, fmt.Sprintf(`(progn (load %q) (funcall (intern "INIT" "SWANK-LOADER")))`, loader), 0, "", env, more)
	Check(t, err)
	p.Watch(t)
	return p
}

// Watch ends the person's Lisp at the end of the test.
func (p *Person) Watch(t *testing.T) {
	p.t = t
	t.Cleanup(func() {
		p.End()
		if t.Failed() {
			t.Logf("the person's Lisp said (end):\n%s", Tail(p.Out.String(), 3000))
		}
	})
}

// SwankLoader returns the file that loads the Swank of a person.
func SwankLoader() (string, error) {
	loader := filepath.Join(*AttachedSwank, "swank-loader.lisp")
	if _, err := os.Stat(loader); err != nil {
		return "", fmt.Errorf("the Swank of the person's Lisp: %w; scripts/install-deps installs it, -attached-swank names another", err)
	}
	return loader, nil
}

// QuickPerson is personAt without a test, in the directory dir.
func QuickPerson(port int, dir string, env []string, more string, arguments ...string) (*Person, error) {
	core, err := swankCore()
	if err != nil {
		return nil, err
	}
	return LaunchPerson([]string{"--core", core}, `(funcall (intern "SETUP" "SWANK-LOADER"))`, port, dir, env, more, arguments...)
}

// CompileSwank has Swank compiled, as making its core does. Two Lisps that compile it
// at the same time break each other's files.
func CompileSwank(t *testing.T) {
	t.Helper()
	if _, err := swankCore(); err != nil {
		t.Fatal(err)
	}
}

// swankCore is that core, made by the first who wants it. What is compiled for it stays
// beside it in the cache.
var swankCore = sync.OnceValues(func() (core string, err error) {
	loader, err := SwankLoader()
	if err != nil {
		return "", err
	}
	fasls := filepath.Join(Run.Cache, "slime")
	if err := os.MkdirAll(fasls, 0o755); err != nil {
		return "", err
	}
	if err := os.Symlink(fasls, filepath.Join(Run.Dir, ".slime")); err != nil {
		return "", err
	}
	of, err := madeOf()
	if err != nil {
		return "", err
	}
	core = filepath.Join(Run.Cache, "swank-"+of+".core")
	return core, locked("swank", func() error {
		if used(core) {
			return nil
		}
		// Debian's Swank has loaded ASDF, which would keep what it has read of the
		// environment and of the configuration.
		cmd := exec.Command(*AttachedSBCL, "--noinform", "--disable-ldb", "--no-sysinit", "--no-userinit", "--non-interactive",
			"--eval", fmt.Sprintf(`(progn (load %q) (funcall (intern "INIT" "SWANK-LOADER") :setup nil)
 (when (find-package "ASDF") (funcall (intern "CLEAR-CONFIGURATION" "ASDF")))
 (sb-ext:save-lisp-and-die %q))`, loader, core+".new"))
		cmd.Env = Environ(Run.Dir)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("making a core with Swank: %w\n%s", err, Tail(string(out), 3000))
		}
		return os.Rename(core+".new", core)
	})
})

// LaunchPerson starts a Lisp in the directory dir, the tests' own by default, which
// evaluates first, and then more, before it serves. Its caller ends it.
func LaunchPerson(options []string, first string, port int, dir string, env []string, more string, arguments ...string) (*Person, error) {
	if len(arguments) == 0 {
		arguments = []string{":dont-close", "t"}
	}
	code := fmt.Sprintf(`(progn %s %s
 (funcall (intern "CREATE-SERVER" "SWANK") :port %d %s)
 (loop (sb-sys:serve-all-events 1)))`, first, more, port, strings.Join(arguments, " "))
	cmd := exec.Command(*AttachedSBCL, append(options, "--noinform", "--disable-ldb", "--no-sysinit", "--no-userinit", "--eval", code)...)
	cmd.Env, cmd.Dir = env, dir
	return Serve(cmd, 60*time.Second)
}

// Serve starts a Lisp and waits until it serves Swank.
func Serve(cmd *exec.Cmd, limit time.Duration) (*Person, error) {
	p := &Person{Cmd: cmd, Out: new(Record), Ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = p.Out, p.Out
	if _, err := cmd.StdinPipe(); err != nil { // kept open: a Lisp at the end of its input ends
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("%w; scripts/install-deps --test installs it", err)
	}
	go func() {
		cmd.Wait()
		close(p.Ended)
	}()
	_ = await.Until(func() bool {
		select {
		case <-p.Ended:
			return true
		default:
		}
		if m := announced.FindStringSubmatch(p.Out.String()); m != nil {
			p.Port, _ = strconv.Atoi(m[1])
		}
		return p.Port != 0
	})
	if p.Port == 0 {
		p.End()
		return nil, fmt.Errorf("%s does not serve Swank:\n%s", cmd.Path, p.Out.String())
	}
	p.Address = net.JoinHostPort("127.0.0.1", strconv.Itoa(p.Port))
	return p, nil
}

// End kills the Lisp and waits for its end.
func (p *Person) End() {
	if p.Conn != nil {
		p.Conn.Close()
	}
	p.Cmd.Process.Kill()
	<-p.Ended
}

// Pid returns the process of the Lisp.
func (p *Person) Pid() int { return p.Cmd.Process.Pid }

// Connect gives the person a client of their own, as Emacs is one.
func (p *Person) Connect() *swank.Conn {
	p.t.Helper()
	if p.Conn == nil {
		ctx := await.Context(p.t)
		conn, err := swank.Dial(ctx, "tcp", p.Address, &swank.Options{FirstID: 1_000_000})
		if err != nil {
			p.t.Fatal(err)
		}
		p.Conn = conn
	}
	return p.Conn
}

// Says evaluates code in the person's own connection and returns the printed value.
func (p *Person) Says(code string) string {
	p.t.Helper()
	ctx := await.Context(p.t)
	var g swank.Grabbed
	if err := p.Connect().Call(ctx, swank.Request{Form: swank.EvalAndGrabOutput(code)}, &g); err != nil {
		p.t.Fatalf("the person's %s: %v", code, err)
	}
	return strings.TrimSpace(g.Values)
}

// Wants wants code to be this text: [Fits].
func (p *Person) Wants(code, text string) {
	p.t.Helper()
	if got := p.Says(code); !Fits(text, got) {
		p.t.Errorf("the person's %s\n is %s\nwant %s", code, got, text)
	}
}

// Becomes is wants of what need not be so yet.
func (p *Person) Becomes(code, text string) {
	p.t.Helper()
	got := ""
	if await.Until(func() bool { got = p.Says(code); return Fits(text, got) }) != nil {
		p.t.Errorf("the person's %s\n is %s\nwant %s", code, got, text)
	}
}

// attachedArguments are the flags that make a server work in a person's image
// when the tests are run with -attached; none otherwise. It skips a test that
// is about launched images, which is on the list of those.
func attachedArguments(t *testing.T, env, args []string) []string {
	t.Helper()
	if !*AttachedFlag {
		return args
	}
	SkipLaunchedOnly(t)
	p, err := QuickPerson(0, "", env, "")
	Check(t, err)
	p.Watch(t)
	return append([]string{"--attach", p.Address}, args...)
}

// SkipLaunchedOnly skips, with -attached, a test that is on the list.
func SkipLaunchedOnly(t *testing.T) {
	t.Helper()
	if !*AttachedFlag {
		return
	}
	for _, n := range namesOf(t) {
		if why, listed := LaunchedOnly[n]; listed {
			t.Skipf("for launched images only: %s", why)
		}
	}
}

// namesOf returns the names under which a test may be listed.
func namesOf(t *testing.T) []string {
	name, _, _ := strings.Cut(t.Name(), "/")
	return []string{name, t.Name()}
}

// isAbout reports whether launchedOnly lists the test for that reason.
func isAbout(t *testing.T, why string) bool {
	return slices.ContainsFunc(namesOf(t), func(n string) bool { return LaunchedOnly[n] == why })
}
