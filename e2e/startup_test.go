package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"swank-mcp/e2e/wire"
	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

// Starting the server has no side effects.
func TestInitializeStartsNothing(t *testing.T) {
	s := startCold(t, wire.Options{Env: environ(run.dir)})
	if _, err := s.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	if kids := descendants(s.PID()); len(kids) > 0 {
		t.Errorf("processes before the first call: %v (%s)", kids, command(kids[0]))
	}
	check(t, s.Close(await.Ceiling))
}

func TestListingToolsAndStatusStartNothing(t *testing.T) {
	t.Parallel()
	s := start(t)
	check(t, s.Call(t.Context(), "tools/list", nil, nil))
	says(t, status(t, s), "not started")
	if kids := descendants(s.PID()); len(kids) > 0 {
		t.Errorf("processes before the first evaluation: %v (%s)", kids, command(kids[0]))
	}
}

func TestFirstEvaluationWithTheCore(t *testing.T) {
	t.Parallel()
	s := start(t)
	want(t, s, "(+ 1 2)", "=> 3")
	says(t, status(t, s), "from the cached core")
}

// alone is for tests that compile all anew: beside each other they would need longer
// than a call waits.
var alone sync.Mutex

func TestColdCache(t *testing.T) {
	tier.Nightly(t)
	t.Parallel()
	alone.Lock()
	defer alone.Unlock()
	dir := shortDir(t)
	s := startCold(t, wire.Options{Env: environ(run.dir, "XDG_CACHE_HOME="+dir)})
	open(t, s)
	l := begin(t, s)
	if await.Until(func() bool { return cores(dir, time.Time{}) == 1 }) != nil {
		t.Fatal("no core was built in the background")
	}
	l.goesOn(t, s)

	// A broken core is found out and replaced.
	filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if filepath.Ext(path) == ".core" {
			os.Truncate(path, 100_000)
		}
		return nil
	})
	again := startCold(t, wire.Options{Env: environ(run.dir, "XDG_CACHE_HOME="+dir)})
	open(t, again)
	want(t, again, "(+ 1 2)", "=> 3\n; The cached core did not start and is built anew: …")
	begin(t, again).goesOn(t, again)
}

// open opens the connection to a server.
func open(t *testing.T, s *server) {
	t.Helper()
	ctx := await.Context(t)
	if _, err := s.Open(ctx); err != nil {
		t.Fatal(err)
	}
}

// shortDir is a directory whose path is short enough for a socket in it.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp(run.dir, "t")
	check(t, err)
	return dir
}

// Two servers that start at once on an empty cache do not hurt each other.
func TestTwoServersOneCache(t *testing.T) {
	tier.Nightly(t)
	t.Parallel()
	alone.Lock()
	defer alone.Unlock()
	env := environ(run.dir, "XDG_CACHE_HOME="+shortDir(t))
	a, b := startCold(t, wire.Options{Env: env}), startCold(t, wire.Options{Env: env})
	open(t, a)
	open(t, b)
	p := sendCall(t, a, "(+ 1 1)")
	want(t, b, "(+ 1 2)", "=> 3")
	wantAnswer(t, p, "=> 2")
	if imagePID(t, a) == imagePID(t, b) {
		t.Error("two servers share one image")
	}
}

// What prevents work is said by the first call, with the next thing to do; the
// server itself lives and works once the cause is gone.
func TestNoSBCL(t *testing.T) {
	t.Parallel()
	s := startCold(t, wire.Options{Env: environ(run.dir)}, "--sbcl", "no-such-sbcl") // sbcl is found outside of PATH, too
	open(t, s)
	for range 2 {
		says(t, strings.ToLower(bad(t, s, "evaluate-lisp", object{"code": "(+ 1 2)"})), "sbcl", "install")
	}
	status(t, s)
}

func TestNoSwank(t *testing.T) {
	t.Parallel()
	s := startCold(t, wire.Options{Env: environ(run.dir)}, "--swank-dir", filepath.Join(run.dir, "nowhere"))
	open(t, s)
	text := bad(t, s, "evaluate-lisp", object{"code": "(+ 1 2)"})
	lower := strings.ToLower(text)
	says(t, text, filepath.Join(run.dir, "nowhere"))
	says(t, lower, "swank")
	if !strings.Contains(lower, "install") && !strings.Contains(text, "--swank-dir") {
		t.Errorf("the message names no remedy:\n%s", text)
	}
}

// An SBCL that was copied without its contrib, or with a part of it.
func TestNoContrib(t *testing.T) {
	tier.More(t)
	t.Parallel()
	for _, c := range []struct{ module, remove string }{
		{"sb-bsd-sockets", "*"}, {"sb-posix", "sb-posix.*"}, {"sb-cltl2", "sb-cltl2.*"}, // the last is for Swank
	} {
		t.Run(c.module, func(t *testing.T) {
			dir := shortDir(t)
			sh := exec.Command("sh", "-ec", `
				core=$(sbcl --noinform --no-userinit --non-interactive --eval '(princ (namestring sb-ext:*core-pathname*))')
				mkdir -p bin lib/sbcl cache
				cp "$(command -v sbcl)" bin/sbcl
				cp "$core" lib/sbcl/sbcl.core
				cp -r "$(dirname "$core")/contrib" lib/sbcl/
				cd lib/sbcl/contrib && rm -r `+c.remove)
			sh.Dir = dir
			if out, err := sh.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			env := environ(run.dir, "XDG_CACHE_HOME="+filepath.Join(dir, "cache"))
			s := startCold(t, wire.Options{Env: env}, "--sbcl", filepath.Join(dir, "bin", "sbcl"))
			open(t, s)
			text := want(t, s, "(+ 1 2)", "[ERROR] NO-IMAGE\n…")
			says(t, text, "lacks its module "+c.module, "contrib", "nstall", "--sbcl", "SBCL_HOME")
			saysNot(t, text, "debugger invoked", "boot.lisp", "Backtrace", "See also")
			status(t, s)
			doctor := exec.Command(run.binary, "doctor", "--sbcl", filepath.Join(dir, "bin", "sbcl"))
			doctor.Env = env
			out, _ := doctor.CombinedOutput()
			says(t, string(out), "lacks its module "+c.module, "SBCL_HOME")
		})
	}
}

// SBCL_HOME that leads nowhere.
func TestWrongSBCLHome(t *testing.T) {
	t.Parallel()
	dir := shortDir(t)
	s := startCold(t, wire.Options{Env: environ(run.dir, "SBCL_HOME="+dir, "XDG_CACHE_HOME="+dir)})
	open(t, s)
	says := "=> 3" // newer ones find their way all the same
	text, isErr := eval(t, s, "(+ 1 2)")
	if isErr {
		says = "SBCL_HOME is " + dir + ", which has no directory contrib: unset it"
	}
	if !strings.Contains(text, says) {
		t.Errorf("with a wrong SBCL_HOME (isError %v):\n%s", isErr, text)
	}
}

// A broken rc file is told and does not prevent the start.
func TestBrokenRCFile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, rc, says string }{
		{"error", `(defvar *from-rc* 7) (error "rc is broken")`, "rc is broken"},
		{"unbalanced", "(defvar *from-rc* 7) (defun half (", "sbclrc"},
		{"exits", "(defvar *from-rc* 7) (sb-ext:exit :code 9)", "sbclrc"},
		{"unknown package", "(defvar *from-rc* 7) (nowhere:start)", "NOWHERE"},
	} {
		t.Run(c.name, func(t *testing.T) {
			home := shortDir(t)
			write(t, filepath.Join(home, ".sbclrc"), c.rc)
			s := startWith(t, wire.Options{Env: environ(home)})
			_, note, _ := strings.Cut(want(t, s, "(+ 1 2)", "…=> 3\n; …"), "\n; ")
			says(t, note, "sbclrc", c.says)
			says(t, status(t, s), "sbclrc", c.says)
			want(t, s, "(+ 1 2)", "=> 3")
			if c.name == "error" {
				want(t, s, "*from-rc*", "=> 7")
			}
		})
	}
}

func TestRCFileIsLoaded(t *testing.T) {
	t.Parallel()
	home := shortDir(t)
	write(t, filepath.Join(home, ".sbclrc"), "(defvar *from-rc* 7)")
	s := startWith(t, wire.Options{Env: environ(home)})
	want(t, s, "*from-rc*", "=> 7")
	without := startWith(t, wire.Options{Env: environ(home)}, "--no-userinit")
	want(t, without, "(boundp '*from-rc*)", "=> NIL")
}

// A file where the cache directory should be: even root cannot write there.
func TestUnwritableCache(t *testing.T) {
	tier.More(t)
	t.Parallel()
	alone.Lock()
	defer alone.Unlock()
	file := filepath.Join(shortDir(t), "file")
	check(t, os.WriteFile(file, nil, 0o600))
	s := startCold(t, wire.Options{Env: environ(run.dir, "XDG_CACHE_HOME="+file)})
	open(t, s)
	says(t, want(t, s, "(+ 1 2)", "=> 3\n; …"), file, "cache")
	says(t, status(t, s), file, "cache")
	begin(t, s).goesOn(t, s)
}

// The same path for a person.
func TestEvalCommand(t *testing.T) {
	t.Parallel()
	skipLaunchedOnly(t)
	check(t, run.warm())
	for _, c := range []struct {
		args []string
		code int
		out  string // contained in stdout or stderr
	}{
		{[]string{"eval", "(+ 1 2)"}, 0, "=> 3"},
		{[]string{"eval", "(defvar *a* 20)", "(* 2 *a*)"}, 0, "=> 40"},
		{[]string{"eval", "(/ 1 0)"}, 1, "DIVISION-BY-ZERO"},
		{[]string{"eval", `(string (code-char 955))`}, 0, "λ"},
		{[]string{"--session", "mine", "eval", "(sb-thread:thread-name sb-thread:*current-thread*)"}, 0, `=> "swank-mcp session mine"`},
		{[]string{"version"}, 0, "swank-mcp"},
		{[]string{"--help"}, 0, "eval"},
		{[]string{"doctor"}, 0, "SBCL"},
		{[]string{"no-such-command"}, -1, "no-such-command"},
		{[]string{"--no-such-flag"}, -1, "no-such-flag"},
	} {
		cmd := exec.Command(run.binary, c.args...)
		cmd.Env = environ(run.dir)
		out, _ := cmd.CombinedOutput()
		code := cmd.ProcessState.ExitCode()
		if code != c.code && (c.code != -1 || code == 0) || !strings.Contains(string(out), c.out) {
			t.Errorf("%q: exit status %d, want %d, and %q in:\n%s", c.args, code, c.code, c.out, out)
		}
		if c.args[0] == "--help" && strings.Count(string(out), "\n") > 40 {
			t.Errorf("--help has %d lines; a screen has 40", strings.Count(string(out), "\n"))
		}
	}
}

func TestDoctorWithoutSBCL(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(run.binary, "doctor", "--sbcl", "no-such-sbcl")
	cmd.Env = environ(run.dir)
	out, _ := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(strings.ToLower(string(out)), "install") {
		t.Errorf("exit status %d, want 1 and how to install:\n%s", code, out)
	}
}

// Programs of a desktop have another PATH than shells.
func TestDoctorWithoutPath(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(run.binary, "doctor")
	cmd.Env = environ(run.dir, "PATH="+shortDir(t))
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "swank-mcp can work") {
		t.Errorf("%v:\n%s", err, out)
	}
}

// A server that is started without HOME finds Lisp's home as Lisp does.
func TestStartWithoutHome(t *testing.T) {
	t.Parallel()
	skipLaunchedOnly(t)
	var env []string
	for _, variable := range environ(run.dir) {
		if !strings.HasPrefix(variable, "HOME=") {
			env = append(env, variable)
		}
	}
	s := startWith(t, wire.Options{Env: env})
	begin(t, s).goesOn(t, s)
}
