package sandbox

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

// What is in the place of a source and is none, or is too large, write-definition leaves out, and refuses where
// it is named. It is not waited for, and not read.
func TestSandboxWritesBesideHostileFiles(t *testing.T) {
	tier.More(t)
	t.Parallel()
	for mode, args := range map[string][]string{"on": {"--sandbox", "on"}, "off": nil} {
		t.Run(mode, func(t *testing.T) {
			o := newOutside(t, accounts()["user"])
			o.makeDirs(t, "theirs")
			o.put(t, "project/good.lisp", "(defun good () 1)\n")
			o.put(t, "project/bad.lisp", "(defun bad () 1)\n")
			s := o.serve(t, args...)
			harness.Good(t, s, "load-file", harness.Object{"path": "good.lisp"})
			harness.Good(t, s, "load-file", harness.Object{"path": "bad.lisp"})
			harness.WantRuns(t, s, "(defun good () 2)", "(defun bad () 2)", "(defun mine () 2)")
			before := peak(t, s.PID())
			for _, thing := range []string{"pipe", "device", "4 GB of nothing", "socket", "directory", "link to itself"} {
				o.put(t, "project/good.lisp", "(defun good () 1)\n")
				harness.Check(t, os.RemoveAll(o.path("project/bad.lisp")))
				harness.Check(t, things[thing](o, o.path("project/bad.lisp")))
				o.owned(t, "project/bad.lisp")
				text := harness.Good(t, s, "write-definition", harness.Object{"name": "good", "force": true})
				if good, err := os.ReadFile(o.path("project/good.lisp")); err != nil || string(good) != "(defun good () 2)\n" {
					t.Errorf("%s: beside it there is %q, %v; the call is answered\n%s", thing, good, err, text)
				}
				for _, c := range []struct {
					args harness.Object
					says string
				}{
					{harness.Object{"name": "bad"}, "No file of the project defines the function BAD"},
					{harness.Object{"name": "mine"}, "No file of the project defines the function MINE"},
					{harness.Object{"name": "mine", "file": "bad.lisp"}, "bad.lisp"},
					{harness.Object{"name": "bad", "file": "bad.lisp", "force": true}, "bad.lisp"},
				} {
					if text := harness.Bad(t, s, "write-definition", c.args); !strings.Contains(text, c.says) {
						t.Errorf("%s: %v is answered\n%s\nwant %s", thing, c.args, text, c.says)
					}
				}
				harness.Says(t, harness.Good(t, s, "find-definition", harness.Object{"name": "bad"}), "(defun bad () 2)")
				if now := peak(t, s.PID()); now-before > maxTaken {
					t.Errorf("%s: the server has had %d MiB, and %d before", thing, now>>10, before>>10)
				}
			}
			harness.Want(t, s, "(list (good) (bad) (mine))", "=> (2 2 2)"+harness.Elided)
		})
	}
}

// A checkpoint whose core was swapped for a pipe is not gone on from, and not waited for: the reply says so, and
// what to do, and the session begins anew. The core itself goes on in the sandbox.
func TestSandboxPipeForACore(t *testing.T) {
	tier.More(t)
	t.Parallel()
	for name, uid := range accounts() {
		t.Run(name, func(t *testing.T) {
			o := newOutside(t, uid)
			s := o.serve(t, "--sandbox", "on")
			harness.WantRuns(t, s, "(defvar *v* (list 1 2))", "(push 0 *v*)")
			harness.Good(t, s, "checkpoint", harness.Object{"name": "kept", "disk": true})
			await.True(t, "the checkpoint on the disk", func() bool {
				return strings.Contains(harness.Good(t, s, "checkpoint", harness.Object{}), "On disk: kept of ")
			})
			harness.Check(t, s.Close(await.Ceiling))
			s = o.serve(t, "--sandbox", "on", "--resume", "kept")
			harness.Want(t, s, "*v*", "=> (0 1 2)"+harness.Elided)
			harness.Check(t, s.Close(await.Ceiling))

			core := o.path("project/.swank-mcp/kept.core")
			harness.Check(t, os.Remove(core))
			harness.Check(t, syscall.Mkfifo(core, 0o600))
			o.owned(t, "project/.swank-mcp/kept.core")
			s = o.serve(t, "--sandbox", "on", "--resume", "kept")
			harness.Want(t, s, "(+ 1 2)", "=> 3"+harness.Elided+"The image is a new one: checkpoint kept cannot be gone on from"+harness.Elided)
		})
	}
}
