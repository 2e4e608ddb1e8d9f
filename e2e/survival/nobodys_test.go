package survival

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"swank-mcp/e2e/harness"
	"swank-mcp/e2e/wire"
	"swank-mcp/internal/await"
	"swank-mcp/internal/stall"
	"swank-mcp/internal/tier"
)

// At the end of its input a server ends soon, also if its image is frozen.
func TestEndOfInputOfAFrozenImage(t *testing.T) {
	tier.More(t)
	t.Parallel()
	for _, busy := range []bool{false, true} {
		s := harness.Start(t)
		l := harness.Begin(t, s)
		if busy {
			harness.Running(t, s, "(sleep 100)")
		}
		stall.Stop(t, l.Pid)
		if !busy { // so that a call waits for it
			harness.Begun(t, s, "(+ 1 2)")
		}
		began := time.Now()
		s.CloseStdin()
		await.From(t, "the end of the server", s.Exited())
		took := time.Since(began)
		t.Logf("ended after %v", took)
		if !harness.Gone(l.Pid) {
			t.Errorf("the image outlived its server (busy %v)", busy)
		}
	}
}

// The next server cleans up after one that was killed: it ends an image that is stopped,
// or whose watching thread has ended, and removes their directories.
func TestNextStartCleansUp(t *testing.T) {
	tier.More(t)
	t.Parallel()
	for name, hold := range map[string]func(s *harness.Server, l harness.Life){
		"stopped": func(_ *harness.Server, l harness.Life) { stall.Stop(t, l.Pid) },
		"without a watch": func(s *harness.Server, _ harness.Life) {
			harness.Eval(t, s, "(let ((thread (find \"swank-mcp lifetime\" (sb-thread:list-all-threads) :key #'sb-thread:thread-name :test #'equal))) (sb-thread:terminate-thread thread) (sb-thread:join-thread thread :default nil))")
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := harness.ShortDir(t)
			env := harness.Environ(harness.Run.Dir, "TMPDIR="+dir)
			s := harness.StartWith(t, wire.Options{Env: env}, "--no-checkpoints") // one would start the thread again
			l := harness.Begin(t, s)
			left := runDirs(t, dir)
			if len(left) != 1 {
				t.Fatalf("the image has the directories %q", left)
			}
			hold(s, l)
			time.Sleep(1100 * time.Millisecond) // a directory may be younger than its lock
			s.Kill()
			time.Sleep(500 * time.Millisecond) // in case the image ends by itself
			if _, err := os.Stat(left[0]); err != nil {
				t.Fatal("nothing is left: this test shows nothing")
			}
			other := harness.StartWith(t, wire.Options{Env: env})
			harness.Begin(t, other)
			if !harness.Gone(l.Pid) {
				t.Errorf("the image of a killed server is still there")
				syscall.Kill(l.Pid, syscall.SIGKILL)
			}
			for _, dir := range left {
				if _, err := os.Stat(dir); err == nil {
					t.Errorf("%s is left", dir)
				}
			}
		})
	}
}

// runDirs returns the directories of the images that run in base, a directory of temporary files.
func runDirs(t *testing.T, base string) []string {
	t.Helper()
	sockets, err := filepath.Glob(filepath.Join(base, "swank-mcp*", "swank.sock"))
	harness.Check(t, err)
	var dirs []string
	for _, socket := range sockets {
		dirs = append(dirs, filepath.Dir(socket))
	}
	return dirs
}

// The next server also removes the page on which an image notes how far a restore has come.
func TestNextStartCleansUpTheBoard(t *testing.T) {
	tier.More(t)
	t.Parallel()
	base := harness.ShortDir(t)
	env := harness.Environ(harness.Run.Dir, "TMPDIR="+base)
	s := harness.StartWith(t, wire.Options{Env: env})
	l := harness.Begin(t, s)
	// Its restore goes on while the file is there, or until it has taken three times as long as now.
	held := filepath.Join(t.TempDir(), "held")
	harness.Want(t, s, fmt.Sprintf("(defvar *slow* (progn (sleep 2) (loop while (probe-file %q) do (sleep 0.01)) 1)) 1", held), "=> 1")
	harness.Write(t, held, "")
	syscall.Kill(l.Pid, syscall.SIGKILL)
	s.Loses(t, l.Pid)
	harness.SendCall(t, s, "*slow*")
	boards := func() []string {
		found, _ := filepath.Glob(filepath.Join(base, "swank-mcp.image-*", "restore-*"))
		return found
	}
	if await.Until(func() bool { return len(boards()) > 0 }) != nil {
		t.Fatal("there was no board: this test shows nothing")
	}
	s.Kill()
	if len(boards()) == 0 {
		t.Fatal("the session was back too soon: this test shows nothing")
	}
	time.Sleep(1200 * time.Millisecond) // a directory may be younger than its lock
	harness.Begin(t, harness.StartWith(t, wire.Options{Env: env}))
	if left := boards(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}
