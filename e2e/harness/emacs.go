//go:build unix

package harness

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"swank-mcp/internal/await"
)

// SlimeFlag names the directory of SLIME.
var SlimeFlag = flag.String("slime", "/usr/share/emacs/site-lisp/elpa/slime-*", "the directory of the SLIME that people use in tests of --attach")

// Emacs is an Emacs in a terminal, with a SLIME in which M-x slime was typed.
type Emacs struct {
	t       *testing.T
	dir     string
	tmux    string // name of its tmux server
	Address string // of the Swank server that the person opened for guests
	pid     int
}

// slimeStarts is held while SLIME starts: the first one compiles Swank for all of them, and
// two that compile it at the same time break each other's files.
var slimeStarts sync.Mutex

// NewEmacs starts Emacs and SLIME as a person does and opens a port for guests
// with the line that the README gives.
func NewEmacs(t *testing.T) *Emacs {
	t.Helper()
	CompileSwank(t)
	for program, packages := range map[string]string{"emacs": "emacs-nox", "emacsclient": "emacs-nox", "tmux": "tmux"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatalf("%v: install it with scripts/install-deps --test (Debian's package %s)", err, packages)
		}
	}
	slime, err := filepath.Glob(*SlimeFlag)
	if err != nil || len(slime) == 0 {
		t.Fatalf("no SLIME at %s: install it with scripts/install-deps --test, or name its directory with -slime", *SlimeFlag)
	}
	e := &Emacs{t: t, dir: ShortDir(t), Address: freeAddress()}
	e.tmux = "swank-mcp-" + filepath.Base(e.dir)
	Check(t, os.Symlink(filepath.Join(Run.Cache, "slime"), filepath.Join(e.dir, ".slime")))
	init := filepath.Join(e.dir, "init.el")
	// A new home has no natively compiled files: Emacs would compile all that it loads.
	if err := os.WriteFile(init, []byte(fmt.Sprintf(`
(setq native-comp-deferred-compilation nil native-comp-jit-compilation nil)
(add-to-list 'load-path %q)
(require 'slime)
(setq inferior-lisp-program "%s --noinform --no-sysinit --no-userinit"
      slime-contribs '(slime-fancy) slime-net-coding-system 'utf-8-unix
      inhibit-startup-screen t initial-scratch-message nil
      server-socket-dir %q server-name "emacs")
(slime-setup)
(server-start)
(open-dribble-file %q)
`, slime[0], *AttachedSBCL, e.dir, filepath.Join(e.dir, "dribble"))), 0o600); err != nil {
		t.Fatal(err)
	}
	// Emacs asks an xterm, and what is like one, what it can do, takes what is typed then for
	// the answer, and compiles its own files for that.
	e.run("tmux", "-L", e.tmux, "-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "40", "TERM=vt220 emacs -nw -Q -l "+init)
	t.Cleanup(func() {
		if t.Failed() {
			said, _ := e.try("emacsclient", "-s", filepath.Join(e.dir, "emacs"), "-e", `(list (key-description (recent-keys)) (with-current-buffer "*Messages*" (buffer-string)))`)
			t.Logf("the person's screen:\n%s\nwhat Emacs has read and said:\n%s", e.Screen(), said)
		}
		e.try("emacsclient", "-s", filepath.Join(e.dir, "emacs"), "-e", "(progn (ignore-errors (slime-quit-lisp t)) (kill-emacs))")
		e.try("tmux", "-L", e.tmux, "kill-server")
	})
	e.Until("Emacs to come up", func() bool {
		pid, err := e.try("emacsclient", "-s", filepath.Join(e.dir, "emacs"), "-e", "(emacs-pid)")
		if err == nil {
			e.pid, err = strconv.Atoi(pid)
		}
		return err == nil
	})
	slimeStarts.Lock()
	defer slimeStarts.Unlock()
	e.Keys("M-x", "slime", "Enter")
	e.Until("SLIME to connect", func() bool { return strings.Contains(e.Screen(), "CL-USER>") })
	_, port, _ := net.SplitHostPort(e.Address)
	e.Types("(swank:create-server :port " + port + " :dont-close t)")
	e.Until("the server for guests", func() bool { return strings.Contains(e.Screen(), "\n"+port) })
	return e
}

// freeAddress is one that nobody listens at. Its port is not of those that the system gives to
// whoever asks for any: another test might have it before Emacs does.
func freeAddress() string {
	for {
		address := fmt.Sprint("127.0.0.1:", 10_000+rand.IntN(20_000))
		if l, err := net.Listen("tcp", address); err == nil {
			l.Close()
			return address
		}
	}
}

func (e *Emacs) try(program string, args ...string) (string, error) {
	ctx, stop := await.Limited(context.Background())
	defer stop()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(Environ(e.dir), "TERM=xterm-256color", "LC_ALL=C.UTF-8")
	out, err := cmd.CombinedOutput()
	return strings.TrimSuffix(string(out), "\n"), err
}

func (e *Emacs) run(program string, args ...string) string {
	e.t.Helper()
	out, err := e.try(program, args...)
	if err != nil {
		e.t.Fatalf("%s %q: %v\n%s", program, args, err, out)
	}
	return out
}

// Keys types, as tmux's send-keys has it, each when Emacs has read the one before and waits
// for keys: what emacsclient has asked for ends a moment after it has the answer, and of keys
// that come within that moment Emacs 30 loses all but the first.
func (e *Emacs) Keys(keys ...string) {
	e.t.Helper()
	if first := keys[0]; !keyName.MatchString(first) {
		keys = append([]string{first[:1], first[1:]}, keys[1:]...)
	}
	for _, key := range keys {
		e.waits()
		before := e.read()
		e.run("tmux", "-L", e.tmux, "send-keys", key)
		for end := time.Now().Add(5 * time.Second); e.read() == before; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				e.t.Logf("Emacs has not read %s", key)
				break
			}
		}
	}
}

// keyName matches what is one key for tmux, and not the letters of its name.
var keyName = regexp.MustCompile(`^(.|[CM]-.|Enter|Space|Up|F5)$`)

// waits returns when Emacs has slept for a moment, or after 2 s.
func (e *Emacs) waits() {
	for end, looks := time.Now().Add(2*time.Second), 0; looks < 3 && time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		if looks++; !sleeps(e.pid) {
			looks = 0
		}
	}
}

// read is how much of what was typed Emacs has read: the size of its dribble file.
func (e *Emacs) read() int64 {
	e.t.Helper()
	f, err := os.Stat(filepath.Join(e.dir, "dribble"))
	Check(e.t, err)
	return f.Size()
}

// Screen returns the text on the person's screen.
func (e *Emacs) Screen() string {
	out, _ := e.try("tmux", "-L", e.tmux, "capture-pane", "-p")
	return out
}

// Elisp evaluates in Emacs. The value comes in a file: emacsclient itself now
// and then garbles one that is longer than its buffer.
func (e *Emacs) Elisp(code string) string {
	e.t.Helper()
	said := filepath.Join(e.dir, "said")
	e.run("emacsclient", "-s", filepath.Join(e.dir, "emacs"), "-e", fmt.Sprintf(`(let ((value %s) (print-escape-newlines t) (coding-system-for-write 'utf-8-unix))
 (with-temp-file %q (prin1 value (current-buffer))) nil)`, code, said))
	b, err := os.ReadFile(said)
	if err != nil {
		e.t.Fatal(err)
	}
	return string(b)
}

// Lisp evaluates in the person's image, through their SLIME; code gives a string.
func (e *Emacs) Lisp(code string) string {
	e.t.Helper()
	got := e.Elisp("(slime-eval '(cl:eval (cl:let ((cl:*package* (cl:find-package \"COMMON-LISP-USER\"))) (cl:read-from-string " + strconv.Quote(code) + "))))")
	if s, err := strconv.Unquote(strings.ReplaceAll(got, "\n", `\n`)); err == nil {
		return s
	}
	return got
}

// Types enters a line at the REPL, as a person does, and waits for the prompt:
// in Emacs, where it takes no other process to look.
func (e *Emacs) Types(line string) {
	e.t.Helper()
	const prompt = `(let ((end (+ (float-time) 5)) there)
 (while (and (not (setq there (with-current-buffer (slime-output-buffer)
                                (and (null (slime-rex-continuations)) (get-text-property (1- slime-repl-input-start-mark) 'slime-repl-prompt) t))))
             (< (float-time) end))
   (accept-process-output nil 0.01))
 there)`
	if e.Elisp("(progn (with-current-buffer (slime-output-buffer) (goto-char (point-max)) (insert "+strconv.Quote(line)+") (slime-repl-return)) "+prompt+")") != "t" {
		e.Until("the answer to "+line, func() bool { return e.Elisp(prompt) == "t" })
	}
}

// Until waits until ok, and shows the screen if that does not come.
func (e *Emacs) Until(what string, ok func() bool) {
	e.t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(50 * time.Millisecond) { // to look takes a process
		if time.Now().After(end) {
			e.t.Fatalf("waited for %s; the screen:\n%s", what, e.Screen())
		}
	}
}

// Debuggers counts the open SLDB buffers.
func (e *Emacs) Debuggers() string {
	e.t.Helper()
	return e.Elisp(`(length (sldb-buffers))`)
}
