package survival

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"swank-mcp/e2e/harness"
	"swank-mcp/e2e/wire"
	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

// Starting the server has no side effects.
func TestInitializeStartsNothing(t *testing.T) {
	s := harness.StartCold(t, wire.Options{Env: harness.Environ(harness.Run.Dir)})
	if _, err := s.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	if kids := harness.Descendants(s.PID()); len(kids) > 0 {
		t.Errorf("processes before the first call: %v (%s)", kids, harness.Command(kids[0]))
	}
	harness.Check(t, s.Close(await.Ceiling))
}

func TestListingToolsAndStatusStartNothing(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	harness.Check(t, s.Call(t.Context(), "tools/list", nil, nil))
	harness.Says(t, harness.Status(t, s), "not started")
	if kids := harness.Descendants(s.PID()); len(kids) > 0 {
		t.Errorf("processes before the first evaluation: %v (%s)", kids, harness.Command(kids[0]))
	}
}

func TestFirstEvaluationWithTheCore(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	harness.Want(t, s, "(+ 1 2)", "=> 3")
	harness.Says(t, harness.Status(t, s), "from the cached core")
}

// alone is for tests that compile all anew: beside each other they would need longer
// than a call waits.
var alone sync.Mutex

func TestColdCache(t *testing.T) {
	tier.Nightly(t)
	t.Parallel()
	alone.Lock()
	defer alone.Unlock()
	dir := harness.ShortDir(t)
	s := harness.StartCold(t, wire.Options{Env: harness.Environ(harness.Run.Dir, "XDG_CACHE_HOME="+dir)})
	harness.Open(t, s)
	l := harness.Begin(t, s)
	if await.Until(func() bool { return harness.Cores(dir, time.Time{}) == 1 }) != nil {
		t.Fatal("no core was built in the background")
	}
	l.GoesOn(t, s)

	// A broken core is found out and replaced.
	filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if filepath.Ext(path) == ".core" {
			os.Truncate(path, 100_000)
		}
		return nil
	})
	again := harness.StartCold(t, wire.Options{Env: harness.Environ(harness.Run.Dir, "XDG_CACHE_HOME="+dir)})
	harness.Open(t, again)
	harness.Want(t, again, "(+ 1 2)", "=> 3\n; The cached core did not start and is built anew: …")
	harness.Begin(t, again).GoesOn(t, again)
}

// Two servers that start at once on an empty cache do not hurt each other.
func TestTwoServersOneCache(t *testing.T) {
	tier.Nightly(t)
	t.Parallel()
	alone.Lock()
	defer alone.Unlock()
	env := harness.Environ(harness.Run.Dir, "XDG_CACHE_HOME="+harness.ShortDir(t))
	a, b := harness.StartCold(t, wire.Options{Env: env}), harness.StartCold(t, wire.Options{Env: env})
	harness.Open(t, a)
	harness.Open(t, b)
	p := harness.SendCall(t, a, "(+ 1 1)")
	harness.Want(t, b, "(+ 1 2)", "=> 3")
	harness.WantAnswer(t, p, "=> 2")
	if harness.ImagePID(t, a) == harness.ImagePID(t, b) {
		t.Error("two servers share one image")
	}
}

// What prevents work is said by the first call, with the next thing to do; the
// server itself lives and works once the cause is gone.
func TestNoSBCL(t *testing.T) {
	t.Parallel()
	s := harness.StartCold(t, wire.Options{Env: harness.Environ(harness.Run.Dir)}, "--sbcl", "no-such-sbcl") // sbcl is found outside of PATH, too
	harness.Open(t, s)
	for range 2 {
		harness.Says(t, strings.ToLower(harness.Bad(t, s, "evaluate-lisp", harness.Object{"code": "(+ 1 2)"})), "sbcl", "install")
	}
	harness.Status(t, s)
}

func TestNoSwank(t *testing.T) {
	t.Parallel()
	s := harness.StartCold(t, wire.Options{Env: harness.Environ(harness.Run.Dir)}, "--swank-dir", filepath.Join(harness.Run.Dir, "nowhere"))
	harness.Open(t, s)
	text := harness.Bad(t, s, "evaluate-lisp", harness.Object{"code": "(+ 1 2)"})
	lower := strings.ToLower(text)
	harness.Says(t, text, filepath.Join(harness.Run.Dir, "nowhere"))
	harness.Says(t, lower, "swank")
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
			dir := harness.ShortDir(t)
			sh := await.Command(t, "sh", "-ec", `
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
			env := harness.Environ(harness.Run.Dir, "XDG_CACHE_HOME="+filepath.Join(dir, "cache"))
			s := harness.StartCold(t, wire.Options{Env: env}, "--sbcl", filepath.Join(dir, "bin", "sbcl"))
			harness.Open(t, s)
			text := harness.Want(t, s, "(+ 1 2)", "[ERROR] NO-IMAGE\n…")
			harness.Says(t, text, "lacks its module "+c.module, "contrib", "nstall", "--sbcl", "SBCL_HOME")
			harness.SaysNot(t, text, "debugger invoked", "boot.lisp", "Backtrace", "See also")
			harness.Status(t, s)
			doctor := await.Command(t, harness.Run.Binary, "doctor", "--sbcl", filepath.Join(dir, "bin", "sbcl"))
			doctor.Env = env
			out, _ := doctor.CombinedOutput()
			harness.Says(t, string(out), "lacks its module "+c.module, "SBCL_HOME")
		})
	}
}

// SBCL_HOME that leads nowhere.
func TestWrongSBCLHome(t *testing.T) {
	t.Parallel()
	dir := harness.ShortDir(t)
	s := harness.StartCold(t, wire.Options{Env: harness.Environ(harness.Run.Dir, "SBCL_HOME="+dir, "XDG_CACHE_HOME="+dir)})
	harness.Open(t, s)
	says := "=> 3" // newer ones find their way all the same
	text, isErr := harness.Eval(t, s, "(+ 1 2)")
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
			home := harness.ShortDir(t)
			harness.Write(t, filepath.Join(home, ".sbclrc"), c.rc)
			s := harness.StartWith(t, wire.Options{Env: harness.Environ(home)})
			_, note, _ := strings.Cut(harness.Want(t, s, "(+ 1 2)", "…=> 3\n; …"), "\n; ")
			harness.Says(t, note, "sbclrc", c.says)
			harness.Says(t, harness.Status(t, s), "sbclrc", c.says)
			harness.Want(t, s, "(+ 1 2)", "=> 3")
			if c.name == "error" {
				harness.Want(t, s, "*from-rc*", "=> 7")
			}
		})
	}
}

func TestRCFileIsLoaded(t *testing.T) {
	t.Parallel()
	home := harness.ShortDir(t)
	harness.Write(t, filepath.Join(home, ".sbclrc"), "(defvar *from-rc* 7)")
	s := harness.StartWith(t, wire.Options{Env: harness.Environ(home)})
	harness.Want(t, s, "*from-rc*", "=> 7")
	without := harness.StartWith(t, wire.Options{Env: harness.Environ(home)}, "--no-userinit")
	harness.Want(t, without, "(boundp '*from-rc*)", "=> NIL")
}

// A file where the cache directory should be: even root cannot write there.
func TestServesWithUnwritableCache(t *testing.T) {
	tier.Nightly(t)
	t.Parallel()
	alone.Lock()
	defer alone.Unlock()
	file := filepath.Join(harness.ShortDir(t), "file")
	harness.Check(t, os.WriteFile(file, nil, 0o600))
	s := harness.StartCold(t, wire.Options{Env: harness.Environ(harness.Run.Dir, "XDG_CACHE_HOME="+file)})
	harness.Open(t, s)
	harness.Says(t, harness.Want(t, s, "(+ 1 2)", "=> 3\n; …"), file, "cache")
	harness.Says(t, harness.Status(t, s), file, "cache")
	harness.Begin(t, s).GoesOn(t, s)
}

// The same path for a person.
func TestEvalCommand(t *testing.T) {
	t.Parallel()
	harness.SkipLaunchedOnly(t)
	harness.Check(t, harness.Run.Warm())
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
		cmd := await.Command(t, harness.Run.Binary, c.args...)
		cmd.Env = harness.Environ(harness.Run.Dir)
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
	cmd := await.Command(t, harness.Run.Binary, "doctor", "--sbcl", "no-such-sbcl")
	cmd.Env = harness.Environ(harness.Run.Dir)
	out, _ := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(strings.ToLower(string(out)), "install") {
		t.Errorf("exit status %d, want 1 and how to install:\n%s", code, out)
	}
}

// Programs of a desktop have another PATH than shells.
func TestDoctorWithoutPath(t *testing.T) {
	t.Parallel()
	cmd := await.Command(t, harness.Run.Binary, "doctor")
	cmd.Env = harness.Environ(harness.Run.Dir, "PATH="+harness.ShortDir(t))
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "swank-mcp can work") {
		t.Errorf("%v:\n%s", err, out)
	}
}

// A server that is started without HOME finds Lisp's home as Lisp does.
func TestStartWithoutHome(t *testing.T) {
	t.Parallel()
	harness.SkipLaunchedOnly(t)
	var env []string
	for _, variable := range harness.Environ(harness.Run.Dir) {
		if !strings.HasPrefix(variable, "HOME=") {
			env = append(env, variable)
		}
	}
	s := harness.StartWith(t, wire.Options{Env: env})
	harness.Begin(t, s).GoesOn(t, s)
}

// An image of our own asks for no secret of the person's: whatever file is there, and where the
// home is none.
func TestStartWithoutSecret(t *testing.T) {
	t.Parallel()
	harness.SkipLaunchedOnly(t)
	for name, make := range map[string]func(home string) (string, error){
		"a secret": func(home string) (string, error) {
			return home, os.WriteFile(home+"/.slime-secret", []byte("sesame\n"), 0o600)
		},
		"directory": func(home string) (string, error) { return home, os.Mkdir(home+"/.slime-secret", 0o700) },
		"empty":     func(home string) (string, error) { return home, os.WriteFile(home+"/.slime-secret", nil, 0o600) },
		"latin-1": func(home string) (string, error) {
			return home, os.WriteFile(home+"/.slime-secret", []byte("\xe9\n"), 0o600)
		},
		"link":    func(home string) (string, error) { return home, os.Symlink(".slime-secret", home+"/.slime-secret") },
		"no home": func(string) (string, error) { return os.DevNull, nil },
	} {
		t.Run(name, func(t *testing.T) {
			home, err := make(harness.ShortDir(t))
			harness.Check(t, err)
			cmd := await.Command(t, harness.Run.Binary, "eval", "(+ 1 2)")
			cmd.Env = harness.Environ(harness.Run.Dir, "HOME="+home)
			if out, err := cmd.CombinedOutput(); err != nil || !strings.HasSuffix(string(out), "=> 3\n") {
				t.Errorf("%v:\n%s", err, out)
			}
		})
	}
}

// A server keeps nothing where there is no home directory, and makes none.
func TestServerMakesNoHome(t *testing.T) {
	t.Parallel()
	harness.SkipLaunchedOnly(t)
	home := harness.ShortDir(t) + "/none"
	env := slices.DeleteFunc(harness.Environ(harness.Run.Dir), func(v string) bool {
		return strings.HasPrefix(v, "HOME=") || strings.HasPrefix(v, "XDG_STATE_HOME=")
	})
	s := harness.StartWith(t, wire.Options{Env: append(env, "HOME="+home, "SWANK_MCP_NO_JOURNAL=false")})
	harness.Want(t, s, "(defvar *kept* 1)", "=> *KEPT*")
	harness.Check(t, s.Close(await.Ceiling))
	if _, err := os.Stat(home); err == nil {
		t.Errorf("%s was made", home)
	}
}

// An environment that an editor, a service or a cron job may have made.
// oddEnvironment is one for which eval says something, and maybe without a working directory.
type oddEnvironment struct {
	env, says string // … for any text
	gone      bool   // the working directory
}

// Without a cache it compiles all.
func TestNoSuchHome(t *testing.T) {
	tier.Nightly(t)
	harness.SkipLaunchedOnly(t)
	inOddEnvironments(t, map[string]oddEnvironment{
		"no such HOME": {env: "HOME=/tmp/none-" + strconv.Itoa(os.Getpid()), says: "…=> 3\n…"},
	})
}

func TestOddEnvironments(t *testing.T) {
	t.Parallel()
	harness.SkipLaunchedOnly(t)
	inOddEnvironments(t, map[string]oddEnvironment{
		"relative HOME":           {env: "HOME=rel", says: "[ERROR] NO-IMAGE…because HOME is \"rel\" in the environment, which is no absolute path\n\nStart swank-mcp with an absolute path in HOME.\n"},
		"relative XDG_CACHE_HOME": {env: "XDG_CACHE_HOME=cache", says: "[ERROR] NO-IMAGE…because XDG_CACHE_HOME is \"cache\" in the environment, which is no absolute path\n\nStart swank-mcp with an absolute path in XDG_CACHE_HOME.\n"},
		"no directory":            {says: "swank-mcp: the working directory is not there (…), maybe because it was deleted; change to another one first: cd ~\n", gone: true},
	})
}

// inOddEnvironments evaluates in each of them.
func inOddEnvironments(t *testing.T, all map[string]oddEnvironment) {
	t.Helper()
	for name, c := range all {
		t.Run(name, func(t *testing.T) {
			dir := harness.ShortDir(t)
			cmd := await.Command(t, harness.Run.Binary, "eval", "(+ 1 2)")
			cmd.Dir, cmd.Env = dir, harness.Environ(harness.Run.Dir)
			if strings.HasPrefix(c.env, "HOME=") { // with what is found by it
				cmd.Env = slices.DeleteFunc(cmd.Env, func(v string) bool { return strings.HasPrefix(v, "XDG_CACHE_HOME=") })
			}
			cmd.Env = append(cmd.Env, c.env)
			if c.gone {
				cmd = await.Command(t, "sh", "-c", `rmdir "$PWD" && exec "$0" eval 1`, harness.Run.Binary)
				cmd.Dir, cmd.Env = dir, harness.Environ(harness.Run.Dir)
			}
			out, _ := cmd.CombinedOutput()
			_, text, logged := strings.Cut(string(out), "\n[ERROR]")
			if logged {
				text = "[ERROR]" + text
			} else {
				text = string(out)
			}
			if !harness.Fits(c.says, text) {
				t.Errorf("got\n%s\nwant\n%s", text, c.says)
			}
			if home, ok := strings.CutPrefix(c.env, "HOME="); ok && filepath.IsAbs(home) {
				if _, err := os.Stat(home); err == nil {
					t.Errorf("%s was made", home)
				}
			}
		})
	}
}
