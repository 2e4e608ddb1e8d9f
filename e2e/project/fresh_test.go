package project

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"swank-mcp/e2e/harness"
	"swank-mcp/e2e/wire"
	"swank-mcp/internal/await"
)

// A fresh image ends with its call, whatever ends that, and leaves nothing. The image of
// the session goes on.
func TestFreshImageEnds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		timeout float64
		end     func(t *testing.T, s *harness.Server, call *wire.Pending)
		killed  bool // the server: the next one clears up
		lives   bool // the server
	}{
		{name: "cancelled", timeout: 100, lives: true, end: func(t *testing.T, s *harness.Server, call *wire.Pending) {
			harness.Check(t, call.Cancel("enough"))
		}},
		// what is compiled, and ASDF, are loaded within it, too
		{name: "time limit", timeout: 15, lives: true, end: func(*testing.T, *harness.Server, *wire.Pending) {}},
		{name: "end of input", timeout: 100, end: func(t *testing.T, s *harness.Server, _ *wire.Pending) {
			harness.Check(t, s.CloseStdin())
		}},
		{name: "server killed", timeout: 100, killed: true, end: func(t *testing.T, s *harness.Server, _ *wire.Pending) {
			time.Sleep(1100 * time.Millisecond) // a directory may be younger than its lock
			s.Kill()
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write := func(name, text string) { harness.Check(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)) }
			write("endless.asd", `(defsystem "endless" :components ((:file "endless")) :perform (test-op (o c) (uiop:symbol-call :cl-user :endless)))`)
			write("endless.lisp", fmt.Sprintf(`(defun endless ()
  (with-open-file (out %q :direction :output)
    (format out "~D ~A~%%" (sb-posix:getpid) (asdf:apply-output-translations #p%q)))
  (rename-file %[1]q %[3]q)
  (loop (sleep 1)))`, filepath.Join(dir, "part"), filepath.Join(dir, "endless.lisp"), filepath.Join(dir, "state.txt")))
			s := harness.Start(t, "--project", dir)
			harness.Want(t, s, "(defvar *kept* 42)", "=> *KEPT*")
			call := harness.SendTool(t, s, "run-tests", harness.Object{"system": "endless", "fresh": true, "timeout": c.timeout})
			var pid int
			var fasls string
			if await.Until(func() bool {
				text, err := os.ReadFile(filepath.Join(dir, "state.txt"))
				n, _ := fmt.Sscan(string(text), &pid, &fasls)
				return err == nil && n == 2
			}) != nil {
				t.Fatal("the tests do not begin")
			}
			base, _, found := strings.Cut(fasls, "/fasl/")
			if _, err := os.Stat(base); !found || err != nil || base == dir {
				t.Fatalf("the fasls are in %s (%v): this test shows nothing", fasls, err)
			}
			c.end(t, s, call)
			if !harness.Gone(pid) {
				t.Errorf("the fresh image is still there: %s", harness.Command(pid))
			}
			if c.lives {
				harness.Want(t, s, "*kept*", "=> 42")
			}
			if c.killed {
				// Who launches an image clears up, also where the session's is a person's.
				harness.Good(t, harness.Start(t, "--project", dir), "load-system", harness.Object{"system": "endless", "fresh": true})
			}
			if await.Until(func() bool { _, err := os.Stat(base); return err != nil }) != nil {
				t.Errorf("%s is left", base)
			}
		})
	}
}
