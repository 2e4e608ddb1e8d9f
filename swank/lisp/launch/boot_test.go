package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
	"swank-mcp/swank/lisp/host"

	"swank-mcp/internal/rundir"
)

// home gives the test a home directory with the init file rc.
func home(t *testing.T, rc string) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	if err := os.WriteFile(filepath.Join(dir, ".sbclrc"), []byte(rc), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestBootCompilesWithoutWarning(t *testing.T) {
	t.Parallel()
	needSBCL(t)
	source := filepath.Join(t.TempDir(), "boot.lisp")
	if err := os.WriteFile(source, testCode("").Boot, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("sbcl", "--noinform", "--no-sysinit", "--no-userinit", "--non-interactive", "--eval",
		fmt.Sprintf(`(multiple-value-bind (fasl warnings failure) (compile-file %q) (unless (and fasl (not warnings) (not failure)) (exit :code 9)))`, source)).CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestHelperWarningsAreSeen(t *testing.T) {
	tier.More(t)
	t.Parallel()
	c := testConfig(t)
	p, err := Start(t.Context(), c, testCode("(defun broken (x) (undefined-here))\n"))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close(t.Context())
	for _, want := range []string{"variable X is defined but never used", "undefined function: SWANK-MCP::UNDEFINED-HERE"} {
		if !strings.Contains(p.status.HelperWarnings, want) {
			t.Errorf("warnings %q lack %q", p.status.HelperWarnings, want)
		}
	}
}

// What the helper misses in this SBCL is told wherever an image is started.
func TestMissingInternalsAreTold(t *testing.T) {
	t.Parallel()
	c := testConfig(t)
	code := testCode("(defun missing-note () \"This SBCL has no SB-X::Y.\")\n")
	r := Doctor(t.Context(), c, code)
	if last := r.Checks[len(r.Checks)-1]; last.Problem != "This SBCL has no SB-X::Y." || !r.OK() {
		t.Errorf("the doctor says %+v", last)
	}
	p, err := Start(t.Context(), c, code)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close(t.Context())
	if got := strings.Join(p.Remarks(), "\n"); got != "This SBCL has no SB-X::Y." {
		t.Errorf("remarks %q", got)
	}
}

func TestUserInit(t *testing.T) {
	tier.Nightly(t)
	for _, test := range []struct{ name, rc, note, eval, want string }{
		{"good", `(defparameter cl-user::*mine* 42) (princ "hello from rc")`, "", "cl-user::*mine*", "(:ok 42)"},
		{"error", `(defparameter cl-user::*mine* 1) (error "oh ~a" "no") (setf cl-user::*mine* 2)`, "oh no", "cl-user::*mine*", "(:ok 1)"},
		{"syntax", `(defparameter cl-user::*mine* 1) (foo`, "end of file", "cl-user::*mine*", "(:ok 1)"},
		{"package", `(no-such-package:foo)`, "NO-SUCH-PACKAGE", "(cl:+ 1 2)", "(:ok 3)"},
		{"own handlers win", `(defparameter cl-user::*mine* (list (signal 'error) (ignore-errors (error "x")) 7))`, "", "(cl:third cl-user::*mine*)", "(:ok 7)"},
		{"stack", `(defun f (n) (1+ (f n))) (f 0)`, "exhausted", "(cl:+ 1 2)", "(:ok 3)"},
		{"exit", `(sb-ext:exit :code 5 :abort t)`, "exit status 5", "(cl:+ 1 2)", "(:ok 3)"},
		{"kills errors", `(sb-ext:disable-debugger)`, "", "(cl:eq sb-ext:*invoke-debugger-hook* 'swank-mcp-boot::background-debugger)", "(:"},
		{"endless", `(loop (sleep 1))`, "it was not ready after 1s", "(cl:+ 1 2)", "(:ok 3)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.name == "endless" {
				defer func(limit time.Duration) { initLimit = limit }(initLimit)
				initLimit = time.Second
			}
			c := testConfig(t)
			c.NoUserInit = false
			home(t, test.rc)
			p := startTest(t, c)
			notes := strings.Join(p.notes, "\n")
			if test.note == "" && notes != "" || !strings.Contains(notes, test.note) {
				t.Errorf("notes %q, want %q", notes, test.note)
			}
			if got := eval(t, p, test.eval); !strings.Contains(got, test.want) {
				t.Errorf("got %s, want %s", got, test.want)
			}
			if test.name == "good" {
				p.Settle()
				if got := p.Background().Head; got != "hello from rc" {
					t.Errorf("output of the init file: %q", got)
				}
			}
		})
	}
}

func TestBackgroundErrorEndsItsThreadOnly(t *testing.T) {
	t.Parallel()
	p := startTest(t, testConfig(t))
	eval(t, p, `(sb-thread:join-thread (sb-thread:make-thread (cl:lambda () (cl:error "late trouble")) :name "mine") :default nil)`)
	p.Settle()
	if got := p.Background().Head; !strings.Contains(got, `; error in thread "mine": SIMPLE-ERROR: late trouble`) || !strings.Contains(got, "\n0: ") {
		t.Errorf("got %q", got)
	}
	if got := eval(t, p, "(cl:+ 1 2)"); got != "(:return (:ok 3) 1)" {
		t.Errorf("got %s", got)
	}
}

// SBCL 2.2.9 dies at the second overflow in a recycled stack.
func TestStackOverflowsInThreads(t *testing.T) {
	t.Parallel()
	p := startTest(t, testConfig(t))
	for i := range 8 {
		// Two of three report to nobody, the third is handled.
		form := `(cl:progn (sb-thread:join-thread (sb-thread:make-thread (cl:lambda () (cl:labels ((r (n) (cl:1+ (r (cl:1+ n))))) (r 0)))) :default nil) 5)`
		if i%3 == 2 {
			form = `(cl:progn (sb-thread:join-thread (sb-thread:make-thread (cl:lambda () (cl:handler-case (cl:labels ((r (n) (cl:1+ (r (cl:1+ n))))) (r 0)) (cl:storage-condition () 1))))) 5)`
		}
		if got := eval(t, p, form); got != "(:return (:ok 5) 1)" {
			t.Fatalf("overflow %d: %s; %s; %s", i, got, p.ExitText(), p.LastErrors())
		}
	}
	p.Settle()
	if got := p.Background().Head; strings.Count(got, "; error in thread") != 6 || !strings.Contains(got, "STACK-EXHAUSTED") {
		t.Errorf("reports: %s", got)
	}
	got := eval(t, p, `(cl:multiple-value-list (sb-thread:join-thread (sb-thread:make-thread 'cl:floor :name "f" :arguments '(7 2))))`)
	if got != "(:return (:ok (3 1)) 1)" {
		t.Errorf("a thread's arguments and values: %s", got)
	}
}

func TestLoopbackWhereNoSocketFits(t *testing.T) {
	c := testConfig(t)
	files, err := findImageFiles(t.Context(), c, testCode(""))
	if err != nil {
		t.Fatal(err)
	}
	long := filepath.Join(t.TempDir(), strings.Repeat("x", 100))
	if err := os.Mkdir(long, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", long)
	t.Setenv("XDG_RUNTIME_DIR", long)
	t.Setenv(rundir.Variable, "")
	files.runBase = []string{long}
	p, err := files.launch(t.Context(), launchPlan{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close(t.Context())
	network, address := p.Address()
	if host, _, err := net.SplitHostPort(address); network != "tcp" || err != nil || host != "127.0.0.1" {
		t.Errorf("address %s %s", network, address)
	}
	// Anybody on this machine can connect there.
	for _, said := range []string{"", "000005wrong", "00004c(:emacs-rex (swank:eval-and-grab-output \"(+ 1 2)\") \"COMMON-LISP-USER\" t 1)"} {
		conn, err := net.Dial(network, address)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, said)
		_ = conn.(*net.TCPConn).CloseWrite()
		if answer, _ := io.ReadAll(conn); len(answer) > 0 {
			t.Errorf("%q is answered %q", said, answer)
		}
		_ = conn.Close()
	}
	if got := eval(t, p, "(cl:+ 1 2)"); got != "(:return (:ok 3) 1)" {
		t.Errorf("got %s", got)
	}
}

func TestNewestSwank(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("SWANK_MCP_TEST_SWANK")
	if dir == "" {
		t.Skip("SWANK_MCP_TEST_SWANK does not name a directory with another Swank")
	}
	c := testConfig(t)
	c.SwankDir = dir
	c.NoCore = false
	p := startTest(t, c)
	t.Logf("%+v", p.status)
	if got := eval(t, p, "(cl:+ 1 2)"); got != "(:return (:ok 3) 1)" {
		t.Errorf("got %s", got)
	}
	if got := p.Background(); !got.Empty() {
		t.Errorf("printed: %q", got.Head)
	}
	if err := buildTestCore(t, p); err != nil {
		t.Fatal(err)
	}
	p = startTest(t, c)
	if got := eval(t, p, "(cl:+ 1 2)"); !p.fromCore || got != "(:return (:ok 3) 1)" {
		t.Errorf("core %v, got %s", p.fromCore, got)
	}
}

func TestStartFailures(t *testing.T) {
	c := testConfig(t)
	var start *host.StartError

	small := c
	small.HeapMB = 1 << 30
	_, err := Start(t.Context(), small, testCode(""))
	says := func(words string) bool { return err != nil && strings.Contains(err.Error(), words) }
	// In SBCL's own words: 2.6 fails at an assertion.
	if !errors.As(err, &start) || !says("exit status 1") || !says("allocate") && !says("GC invariant lost, file \"coreparse.c\"") {
		t.Errorf("too large a heap: %v", err)
	}

	broken := c
	broken.SBCL = filepath.Join(t.TempDir(), "sbcl")
	if err := os.WriteFile(broken.SBCL, []byte("#!/bin/sh\necho no lisp here >&2\nexit 4\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err = Start(t.Context(), broken, testCode(""))
	if !errors.As(err, &start) || !strings.Contains(err.Error(), "exit status 4") || !strings.Contains(err.Error(), "no lisp here") {
		t.Errorf("not SBCL: %v", err)
	}

	_, err = Start(t.Context(), c, testCode(`(error "helper trouble")`))
	if !errors.As(err, &start) || !strings.Contains(err.Error(), "helper trouble") {
		t.Errorf("broken helper: %v", err)
	}

	slow := c
	slow.SBCL = filepath.Join(t.TempDir(), "sbcl")
	if err := os.WriteFile(slow.SBCL, []byte("#!/bin/sh\nexec sleep 1000\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	slow.CacheDir = filepath.Join(t.TempDir(), "cache")
	before := runtime.NumGoroutine()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err = Start(ctx, slow, testCode(""))
	if !errors.As(err, &start) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("not in time: %v", err)
	}
	await.True(t, "goroutines end", func() bool { return runtime.NumGoroutine() <= before })
}

// What ended a start is told once, and can still be asked for.
func TestStartErrorTellsItsCauseOnce(t *testing.T) {
	t.Parallel()
	for _, cause := range []error{context.DeadlineExceeded, context.Canceled, os.ErrPermission} {
		err := (&imageFiles{sbcl: "sbcl", swank: "/swank"}).startError(&launchError{reason: cause.Error(), err: cause})
		if n := strings.Count(err.Error(), cause.Error()); n != 1 || !errors.Is(err, cause) {
			t.Errorf("%d times, is %v: %v", n, errors.Is(err, cause), err)
		}
	}
}
