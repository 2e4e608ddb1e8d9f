package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"swank-mcp/e2e/harness"
	"swank-mcp/e2e/wire"
	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

// nobody is a user that every Linux has.
const nobody = 65534

// accounts are the users as which images are confined: root and one that is nobody, or who
// runs the tests.
func accounts() map[string]int {
	if os.Getuid() == 0 {
		return map[string]int{"root": 0, "user": nobody}
	}
	return map[string]int{"user": os.Getuid()}
}

// someAccounts returns up to n of the accounts, one that is not root among them.
func someAccounts(n int) map[string]int {
	all := accounts()
	if n < len(all) {
		delete(all, "root")
	}
	return all
}

// outside is what surrounds a sandbox in a test: a home, a project, and things elsewhere.
type outside struct {
	dir, binary string
	uid         int
	run         []string // what starts a program as the user
	port        int
	abstract    string
	victim      *exec.Cmd // a process of the user's
}

// newOutside makes one for a user. Nothing of who runs the tests takes part.
func newOutside(t *testing.T, uid int) *outside {
	t.Helper()
	harness.SkipLaunchedOnly(t)
	harness.Check(t, harness.Run.Warm())
	dir, err := os.MkdirTemp("", "swes") // not below the run's: another user is to enter it
	harness.Check(t, err)
	t.Cleanup(func() { harness.Check(t, os.RemoveAll(dir)) })
	o := &outside{dir: dir, binary: filepath.Join(dir, "swank-mcp"), uid: uid}
	if uid != os.Getuid() {
		id := strconv.Itoa(uid)
		o.run = []string{"setpriv", "--reuid", id, "--regid", id, "--clear-groups"}
	}
	for name, text := range map[string]string{
		"home/.ssh/id_ed25519": "key", "home/.aws/credentials": "credentials", "home/.profile": "",
		"elsewhere/secret": "secret", "elsewhere/deletable": "", "elsewhere/cut": "text", "cache/common-lisp/": "",
		"project/": "", "run/": "",
	} {
		path := filepath.Join(dir, name)
		harness.Check(t, os.MkdirAll(filepath.Dir(path), 0o755))
		if strings.HasSuffix(name, "/") {
			harness.Check(t, os.MkdirAll(path, 0o755))
		} else {
			harness.Check(t, os.WriteFile(path, []byte(text+"\n"), 0o644))
		}
	}
	harness.Check(t, await.Command(t, "install", "-m", "755", harness.Run.Binary, o.binary).Run()) // see TestOtherUserOfTheMachine
	for _, part := range warmCache(t) {
		copyCache(t, filepath.Join(dir, "cache", "swank-mcp", filepath.Base(part)), part)
	}
	harness.Check(t, await.Command(t, "chmod", "755", dir, o.binary).Run())
	harness.Check(t, await.Command(t, "chown", "-R", strconv.Itoa(uid), dir).Run())
	return o
}

// warmCache returns the directories of the shared cache that a server needs to start from a core: the
// newest core, and the fasls of Swank. What other builds have left there is half a gigabyte.
func warmCache(t *testing.T) []string {
	t.Helper()
	cache := filepath.Join(harness.Run.Cache, "swank-mcp")
	parts, err := filepath.Glob(filepath.Join(cache, "swank-*"))
	harness.Check(t, err)
	images, err := filepath.Glob(filepath.Join(cache, "image-*"))
	harness.Check(t, err)
	used := map[string]time.Time{}
	for _, image := range images {
		if info, err := os.Stat(image); err == nil {
			used[image] = info.ModTime()
		}
	}
	if len(images) > 0 {
		parts = append(parts, slices.MaxFunc(images, func(a, b string) int { return used[a].Compare(used[b]) }))
	}
	return parts
}

// copyCache copies a part of a cache, but for what servers that use it are just writing or removing.
func copyCache(t *testing.T, to, from string) {
	t.Helper()
	harness.Check(t, filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		rest, err := filepath.Rel(from, path)
		switch {
		case err != nil:
			return err
		case strings.HasPrefix(d.Name(), "tmp-") && d.IsDir():
			return filepath.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, rest), 0o755)
		case strings.HasPrefix(d.Name(), "tmp-") || !d.Type().IsRegular():
			return nil
		}
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rest), text, 0o644)
	}))
}

func (o *outside) path(name string) string { return filepath.Join(o.dir, name) }

func (o *outside) env() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + o.path("home"), "XDG_CACHE_HOME=" + o.path("cache"),
		"TMPDIR=" + o.path("run"), harness.RunDirVariable + "=" + o.path("run"), harness.OfRun + harness.Run.Dir, "LC_ALL=C", "SWANK_MCP_TOOLSETS=all", "SWANK_MCP_NO_JOURNAL=true",
		"MY_API_TOKEN=secret"}
}

// program is the command that starts a program as the user.
func (o *outside) program(name string, args ...string) []string {
	return append(append(append([]string{}, o.run...), name), args...)
}

// serve starts a server of the user's that works for the project.
func (o *outside) serve(t *testing.T, args ...string) *harness.Server {
	t.Helper()
	command := o.program(o.binary, args...)
	c, err := wire.Start(wire.Options{Env: o.env(), Dir: o.path("project")}, command[0], command[1:]...)
	harness.Check(t, err)
	t.Cleanup(func() {
		for _, complaint := range harness.Farewell(c) {
			t.Error(complaint)
		}
		if t.Failed() && c.Said() != "" {
			t.Logf("server log (end):\n%s", harness.Tail(c.Said(), 3000))
		}
	})
	ctx := await.Context(t)
	if _, err := c.Open(ctx); err != nil {
		t.Fatalf("opening: %v\n%s", err, c.Said())
	}
	return &harness.Server{Client: c, T: t}
}

// populate starts what lives outside: a process of the user's, and services.
func (o *outside) populate(t *testing.T) {
	t.Helper()
	command := o.program("sleep", "600")
	o.victim = exec.Command(command[0], command[1:]...)
	o.victim.Dir, o.victim.Env = o.path("elsewhere"), []string{harness.OfRun + harness.Run.Dir, "PATH=" + os.Getenv("PATH")}
	harness.Check(t, o.victim.Start())
	t.Cleanup(func() {
		_ = o.victim.Process.Kill()
		_ = o.victim.Wait()
	})
	o.port = listenAt(t, "tcp", "127.0.0.1:0").Addr().(*net.TCPAddr).Port
	listenAt(t, "unix", o.path("elsewhere/service.sock"))
	harness.Check(t, os.Chmod(o.path("elsewhere/service.sock"), 0o777))
	o.abstract = fmt.Sprintf("swank-mcp-test-%d-%d", os.Getpid(), o.port)
	listenAt(t, "unix", "@"+o.abstract)
}

// listenAt accepts connections until the end of the test.
func listenAt(t *testing.T, network, address string) net.Listener {
	t.Helper()
	l, err := net.Listen(network, address)
	harness.Check(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() { // ends with the listener
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = c.Close()
		}
	}()
	return l
}

var socketPattern = regexp.MustCompile(`unix:(\S+)/swank\.sock`)

// imageDir is the directory of the image of s.
func imageDir(t *testing.T, s *harness.Server) string {
	t.Helper()
	m := socketPattern.FindStringSubmatch(harness.Status(t, s))
	if m == nil {
		t.Fatalf("session-status names no socket:\n%s", harness.Status(t, s))
	}
	return m[1]
}

// tries makes each attempt in the image of s, of which others knows, and calls tell with it and
// whether it succeeded.
func (o *outside) tries(t *testing.T, s, other *harness.Server, list []attempt, tell func(a attempt, succeeded bool, text string)) {
	t.Helper()
	prelude, err := os.ReadFile(harness.Testdata("sandbox", "attempts.lisp"))
	harness.Check(t, err)
	harness.Good(t, s, "evaluate-lisp", harness.Object{"code": string(prelude)})
	if await.Until(func() bool { return strings.Contains(harness.Status(t, s), "\nCheckpoint: ") }) != nil {
		t.Fatalf("there is no checkpoint:\n%s", harness.Status(t, s))
	}
	names := strings.NewReplacer("{home}", o.path("home"), "{elsewhere}", o.path("elsewhere"), "{project}", o.path("project"),
		"{cache}", o.path("cache"), "{server}", strconv.Itoa(s.PID()), "{victim}", strconv.Itoa(o.victim.Process.Pid),
		"{other}", strconv.Itoa(harness.ImagePID(t, other)), "{image}", imageDir(t, other), "{own}", imageDir(t, s),
		"{port}", strconv.Itoa(o.port), "{abstract}", o.abstract)
	pid := harness.ImagePID(t, s)
	for _, a := range list {
		// To start 700 processes takes long where memory is slow.
		r := harness.Call(t, s, "evaluate-lisp", harness.Object{"code": "(attempt " + names.Replace(a.code) + ")", "timeout": 150})
		text, failed := r.Text(), r.IsError
		tell(a, !strings.Contains(text, "=> :REFUSED") && !failed, text)
		if failed {
			t.Errorf("%s: the call has failed:\n%s", a.name, harness.Clip(text))
		}
	}
	harness.Want(t, s, "(+ 1 2)", "=> 3")
	harness.WantPID(t, s, pid)
	harness.Want(t, other, "(+ 1 2)", "=> 3")
	_ = syscall.Unmount(o.path("project"), syscall.MNT_DETACH) // if an attempt has mounted something there
	_ = o.victim.Process.Signal(syscall.SIGTERM)
	_ = o.victim.Wait()
	if ws := o.victim.ProcessState.Sys().(syscall.WaitStatus); ws.Signal() != syscall.SIGTERM {
		t.Errorf("the process outside was ended: %v", o.victim.ProcessState)
	}
}

// Whatever code tries from in the sandbox is refused, and its session goes on.
func TestSandboxRefuses(t *testing.T) {
	t.Parallel()
	for name, uid := range accounts() {
		t.Run(name, func(t *testing.T) {
			o := newOutside(t, uid)
			o.populate(t)
			s, other := o.serve(t, "--sandbox", "strict"), o.serve(t, "--sandbox", "strict")
			harness.Want(t, other, "(+ 1 2)", "=> 3")
			o.tries(t, s, other, attempts, func(a attempt, succeeded bool, text string) {
				if succeeded {
					t.Errorf("%s: not refused: %s\n%s", a.name, a.code, harness.Clip(text))
				}
			})
			t.Logf("%d attempts", len(attempts))
		})
	}
}

// The same code does it where there is no sandbox: what is tried can be done.
func TestSandboxOffRefusesNothing(t *testing.T) {
	tier.More(t)
	t.Parallel()
	for name, uid := range accounts() {
		t.Run(name, func(t *testing.T) {
			o := newOutside(t, uid)
			o.populate(t)
			s, other := o.serve(t), o.serve(t)
			harness.Want(t, other, "(+ 1 2)", "=> 3")
			var list []attempt
			for _, a := range attempts {
				if a.open && (uid == 0 || !a.root) {
					list = append(list, a)
				}
			}
			o.tries(t, s, other, list, func(a attempt, succeeded bool, text string) {
				switch {
				case !succeeded && a.absent != "" && strings.Contains(text, a.absent):
					t.Logf("%s: this kernel has none", a.name)
				case !succeeded:
					t.Errorf("%s: it cannot be done without a sandbox either: %s\n%s", a.name, a.code, harness.Clip(text))
				}
			})
			t.Logf("%d attempts", len(list))
		})
	}
}

// withoutNamespaces starts programs that can make no file system of their own: user namespaces
// are used up, and there are no rights.
func (o *outside) withoutNamespaces() {
	o.run = append(o.run, "unshare", "--user", "--map-root-user", "sh", "-c",
		`echo 0 >/proc/sys/user/max_user_namespaces && exec setpriv --bounding-set=-all --inh-caps=-all "$@"`, "sh")
}

// Where no file system of its own can be made, Landlock and seccomp refuse almost all of it,
// and what they cannot refuse is said. Strict then starts nothing.
func TestSandboxWithoutNamespaces(t *testing.T) {
	tier.More(t)
	t.Parallel()
	o := newOutside(t, accounts()["user"])
	o.populate(t)
	o.withoutNamespaces()
	command := o.program(o.binary, "--sandbox", "strict", "eval", "(+ 1 2)")
	strict := await.Command(t, command[0], command[1:]...)
	strict.Env, strict.Dir = o.env(), o.path("project")
	out, err := strict.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "swank-mcp: --sandbox strict: this system cannot do all of it: ") ||
		!strings.Contains(string(out), "sockets in the file system") {
		t.Errorf("strict: %v\n%s", err, out)
	}
	s, other := o.serve(t, "--sandbox", "on"), o.serve(t, "--sandbox", "on")
	harness.Want(t, other, "(+ 1 2)", "=> 3")
	harness.Says(t, harness.Status(t, other), "\nSandbox: on, by Landlock ", "; no network; missing: ", "sockets in the file system")
	if log := other.Said(); !strings.Contains(log, "the sandbox is not whole: sockets in the file system") {
		t.Errorf("the log does not say what is missing:\n%s", log)
	}
	o.tries(t, s, other, attempts, func(a attempt, succeeded bool, text string) {
		if succeeded != (a.stays != "") && a.name != "start too many processes" { // that is said to be missing, too
			t.Errorf("%s: succeeded %v: %s\n%s", a.name, succeeded, a.code, harness.Clip(text))
		}
	})
}

// ofNetworks finds the attempts that --sandbox-net could open; TestSandboxRefuses makes the others.
var ofNetworks = regexp.MustCompile(`connect|socket|/dev/tcp|"syscall" 425`)

// Only the ports that --sandbox-net names can be connected to.
func TestSandboxNet(t *testing.T) {
	tier.More(t)
	t.Parallel()
	for name, uid := range accounts() {
		t.Run(name, func(t *testing.T) {
			o := newOutside(t, uid)
			o.populate(t)
			allowed := listenAt(t, "tcp", "127.0.0.1:0").Addr().(*net.TCPAddr).Port
			s, other := o.serve(t, "--sandbox", "strict", "--sandbox-net", strconv.Itoa(allowed)), o.serve(t, "--sandbox", "strict")
			harness.Want(t, other, "(+ 1 2)", "=> 3")
			harness.Says(t, harness.Status(t, s), "; TCP to "+strconv.Itoa(allowed))
			open := attempt{name: "connect to the allowed port", code: fmt.Sprintf("(connect-tcp %d)", allowed)}
			more := []attempt{
				{name: "multipath TCP", code: `(foreign "socket" 2 1 262)`},
				{name: "connect by sending", code: `(foreign "sendto" (foreign "socket" 2 1 0) 0 0 #x20000000 0 0)`},
			}
			list := append([]attempt{open}, more...)
			for _, a := range attempts {
				if ofNetworks.MatchString(a.code) {
					list = append(list, a)
				}
			}
			o.tries(t, s, other, list, func(a attempt, succeeded bool, text string) {
				version6 := a.name == "make a socket of Internet version 6"
				if succeeded != (a.name == open.name || version6) {
					t.Errorf("%s: succeeded %v: %s\n%s", a.name, succeeded, a.code, harness.Clip(text))
				}
			})
			t.Logf("%d attempts", len(list))
		})
	}
}

// The doctor says what confines, and what is missing.
func TestSandboxDoctor(t *testing.T) {
	t.Parallel()
	o := newOutside(t, accounts()["user"])
	doctor := func() (string, error) {
		command := o.program(o.binary, "--sandbox", "on", "doctor")
		cmd := await.Command(t, command[0], command[1:]...)
		cmd.Env, cmd.Dir = o.env(), o.path("project")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := doctor(); err != nil || !regexp.MustCompile(`(?m)^ok       sandbox    by Landlock \d+, seccomp, a file system of its own$`).MatchString(out) ||
		!regexp.MustCompile(`(?m)^ok       start      SBCL .* from the core, `).MatchString(out) {
		t.Errorf("%v\n%s", err, out)
	}
	o.withoutNamespaces()
	if out, err := doctor(); err != nil || !regexp.MustCompile(`(?m)^warning  sandbox    by Landlock \d+, seccomp\n +sockets in the file system`).MatchString(out) {
		t.Errorf("without namespaces: %v\n%s", err, out)
	}
}

// A project that holds the user's keys, or what the server runs, is not a sandbox's.
func TestSandboxKeepsKeysOutOfTheProject(t *testing.T) {
	t.Parallel()
	o := newOutside(t, accounts()["user"])
	for _, c := range []struct{ flag, path, why string }{
		{"--project", o.path("home"), o.path("home/.")},
		{"--project", "/", "SBCL, "},
		{"--session-dir", o.path("home/.ssh"), o.path("home/.ssh")},
		{"--sandbox-read", o.path("home/.aws"), o.path("home/.aws")},
		{"--cache-dir", o.path("project/cache"), "the cache, " + o.path("project/cache")},
	} {
		command := o.program(o.binary, c.flag, c.path, "--sandbox", "on", "eval", "(+ 1 2)")
		cmd := await.Command(t, command[0], command[1:]...)
		cmd.Env, cmd.Dir = o.env(), o.path("project")
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "\nno image is started in the sandbox: ") || !strings.Contains(string(out), c.why) {
			t.Errorf("%s %s: %v\n%s", c.flag, c.path, err, out)
		}
	}
}
