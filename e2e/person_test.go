package e2e

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
	attachedFlag  = flag.Bool("attached", false, "run every test that can be in an image that is attached to")
	attachedSBCL  = flag.String("attached-sbcl", "sbcl", "the SBCL that people run in tests of --attach")
	attachedSwank = flag.String("attached-swank", "/usr/share/common-lisp/source/slime", "their directory of Swank")
)

// person is somebody who runs a Lisp with Swank in it, as SLIME would.
type person struct {
	t       *testing.T
	cmd     *exec.Cmd
	address string // of Swank
	port    int
	conn    *swank.Conn // theirs, nil until asked
	out     *record     // of stdout and stderr
	ended   chan struct{}
}

// announced is what Swank says when it listens.
var announced = regexp.MustCompile(`Swank started at port: (\d+)\.`)

// record keeps what is written to it.
type record struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write keeps b.
func (r *record) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.b.Write(b)
}

// String returns what was written so far.
func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.b.String()
}

// newPerson starts a Lisp that serves Swank until the end of the test. More is
// code that it evaluates before that; arguments are those of create-server.
func newPerson(t *testing.T, more string, arguments ...string) *person {
	t.Helper()
	return personAt(t, 0, environ(run.dir), more, arguments...)
}

// personAt does it from a core with Swank in it such as SLIME's manual has people make,
// in a twentieth of the time that loading Swank takes.
func personAt(t *testing.T, port int, env []string, more string, arguments ...string) *person {
	t.Helper()
	p, err := quickPerson(port, "", env, more, arguments...)
	check(t, err)
	p.watch(t)
	return p
}

// loadingPerson is as newPerson, but their Lisp loads Swank, as M-x slime has it.
func loadingPerson(t *testing.T, env []string, more string) *person {
	t.Helper()
	compileSwank(t)
	loader, err := swankLoader()
	check(t, err)
	p, err := launchPerson(nil, fmt.Sprintf(`(progn (load %q) (funcall (intern "INIT" "SWANK-LOADER")))`, loader), 0, "", env, more)
	check(t, err)
	p.watch(t)
	return p
}

// watch ends the person's Lisp at the end of the test.
func (p *person) watch(t *testing.T) {
	p.t = t
	t.Cleanup(func() {
		p.end()
		if t.Failed() {
			t.Logf("the person's Lisp said (end):\n%s", tail(p.out.String(), 3000))
		}
	})
}

// swankLoader returns the file that loads the Swank of a person.
func swankLoader() (string, error) {
	loader := filepath.Join(*attachedSwank, "swank-loader.lisp")
	if _, err := os.Stat(loader); err != nil {
		return "", fmt.Errorf("the Swank of the person's Lisp: %w; scripts/install-deps installs it, -attached-swank names another", err)
	}
	return loader, nil
}

// quickPerson is personAt without a test, in the directory dir.
func quickPerson(port int, dir string, env []string, more string, arguments ...string) (*person, error) {
	core, err := swankCore()
	if err != nil {
		return nil, err
	}
	return launchPerson([]string{"--core", core}, `(funcall (intern "SETUP" "SWANK-LOADER"))`, port, dir, env, more, arguments...)
}

// compileSwank has Swank compiled, as making its core does. Two Lisps that compile it
// at the same time break each other's files.
func compileSwank(t *testing.T) {
	t.Helper()
	if _, err := swankCore(); err != nil {
		t.Fatal(err)
	}
}

// swankCore is that core, made by the first who wants it. What is compiled for it stays
// beside it in the cache.
var swankCore = sync.OnceValues(func() (core string, err error) {
	loader, err := swankLoader()
	if err != nil {
		return "", err
	}
	fasls := filepath.Join(run.cache, "slime")
	if err := os.MkdirAll(fasls, 0o755); err != nil {
		return "", err
	}
	if err := os.Symlink(fasls, filepath.Join(run.dir, ".slime")); err != nil {
		return "", err
	}
	of, err := madeOf()
	if err != nil {
		return "", err
	}
	core = filepath.Join(run.cache, "swank-"+of+".core")
	return core, locked("swank", func() error {
		if used(core) {
			return nil
		}
		// Debian's Swank has loaded ASDF, which would keep what it has read of the
		// environment and of the configuration.
		cmd := exec.Command(*attachedSBCL, "--noinform", "--disable-ldb", "--no-sysinit", "--no-userinit", "--non-interactive",
			"--eval", fmt.Sprintf(`(progn (load %q) (funcall (intern "INIT" "SWANK-LOADER") :setup nil)
 (when (find-package "ASDF") (funcall (intern "CLEAR-CONFIGURATION" "ASDF")))
 (sb-ext:save-lisp-and-die %q))`, loader, core+".new"))
		cmd.Env = environ(run.dir)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("making a core with Swank: %w\n%s", err, tail(string(out), 3000))
		}
		return os.Rename(core+".new", core)
	})
})

// launchPerson starts a Lisp in the directory dir, the tests' own by default, which
// evaluates first, and then more, before it serves. Its caller ends it.
func launchPerson(options []string, first string, port int, dir string, env []string, more string, arguments ...string) (*person, error) {
	if len(arguments) == 0 {
		arguments = []string{":dont-close", "t"}
	}
	code := fmt.Sprintf(`(progn %s %s
 (funcall (intern "CREATE-SERVER" "SWANK") :port %d %s)
 (loop (sb-sys:serve-all-events 1)))`, first, more, port, strings.Join(arguments, " "))
	cmd := exec.Command(*attachedSBCL, append(options, "--noinform", "--disable-ldb", "--no-sysinit", "--no-userinit", "--eval", code)...)
	cmd.Env, cmd.Dir = env, dir
	return serve(cmd, 60*time.Second)
}

// serve starts a Lisp and waits until it serves Swank.
func serve(cmd *exec.Cmd, limit time.Duration) (*person, error) {
	p := &person{cmd: cmd, out: new(record), ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = p.out, p.out
	if _, err := cmd.StdinPipe(); err != nil { // kept open: a Lisp at the end of its input ends
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("%w; scripts/install-deps --test installs it", err)
	}
	go func() {
		cmd.Wait()
		close(p.ended)
	}()
	_ = await.Until(func() bool {
		select {
		case <-p.ended:
			return true
		default:
		}
		if m := announced.FindStringSubmatch(p.out.String()); m != nil {
			p.port, _ = strconv.Atoi(m[1])
		}
		return p.port != 0
	})
	if p.port == 0 {
		p.end()
		return nil, fmt.Errorf("%s does not serve Swank:\n%s", cmd.Path, p.out.String())
	}
	p.address = net.JoinHostPort("127.0.0.1", strconv.Itoa(p.port))
	return p, nil
}

// end kills the Lisp and waits for its end.
func (p *person) end() {
	if p.conn != nil {
		p.conn.Close()
	}
	p.cmd.Process.Kill()
	<-p.ended
}

// pid returns the process of the Lisp.
func (p *person) pid() int { return p.cmd.Process.Pid }

// connect gives the person a client of their own, as Emacs is one.
func (p *person) connect() *swank.Conn {
	p.t.Helper()
	if p.conn == nil {
		ctx := await.Context(p.t)
		conn, err := swank.Dial(ctx, "tcp", p.address, &swank.Options{FirstID: 1_000_000})
		if err != nil {
			p.t.Fatal(err)
		}
		p.conn = conn
	}
	return p.conn
}

// says evaluates code in the person's own connection and returns the printed value.
func (p *person) says(code string) string {
	p.t.Helper()
	ctx := await.Context(p.t)
	var g swank.Grabbed
	if err := p.connect().Call(ctx, swank.Request{Form: swank.EvalAndGrabOutput(code)}, &g); err != nil {
		p.t.Fatalf("the person's %s: %v", code, err)
	}
	return strings.TrimSpace(g.Values)
}

// wants wants code to be this text: [fits].
func (p *person) wants(code, text string) {
	p.t.Helper()
	if got := p.says(code); !fits(text, got) {
		p.t.Errorf("the person's %s\n is %s\nwant %s", code, got, text)
	}
}

// becomes is wants of what need not be so yet.
func (p *person) becomes(code, text string) {
	p.t.Helper()
	got := ""
	if await.Until(func() bool { got = p.says(code); return fits(text, got) }) != nil {
		p.t.Errorf("the person's %s\n is %s\nwant %s", code, got, text)
	}
}

// attachedArguments are the flags that make a server work in a person's image
// when the tests are run with -attached; none otherwise. It skips a test that
// is about launched images, which is on the list of those.
func attachedArguments(t *testing.T, env, args []string) []string {
	t.Helper()
	if !*attachedFlag {
		return args
	}
	skipLaunchedOnly(t)
	p, err := quickPerson(0, "", env, "")
	check(t, err)
	p.watch(t)
	return append([]string{"--attach", p.address}, args...)
}

// skipLaunchedOnly skips, with -attached, a test that is on the list.
func skipLaunchedOnly(t *testing.T) {
	t.Helper()
	if !*attachedFlag {
		return
	}
	for _, n := range namesOf(t) {
		if why, listed := launchedOnly[n]; listed {
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
	return slices.ContainsFunc(namesOf(t), func(n string) bool { return launchedOnly[n] == why })
}
