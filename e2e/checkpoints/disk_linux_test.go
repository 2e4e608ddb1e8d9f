package checkpoints

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"swank-mcp/e2e/harness"
	"swank-mcp/e2e/wire"
	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

var (
	diskKills = flag.Int("disk.kills", 3, "how often saving a checkpoint to the disk is killed")
	diskFull  = flag.Int("disk.full", 2, "how often a checkpoint is saved to a full disk")
	diskSeed  = flag.Uint64("disk.seed", 1, "of the moments")
)

// diskDigest is code whose value is a name for all that a session of these tests has.
const diskDigest = `(let ((sum 0)) (maphash (lambda (k v) (setf sum (logxor sum (sxhash (list k v))))) *table*) (format nil "d~(~36r~)-~d" sum (funcall *next*)))`

// changeDisk changes what the session has, and returns the digest of what it has then.
func changeDisk(t *testing.T, s *harness.Server) string {
	t.Helper()
	harness.WantRuns(t, s, `(progn (defvar *table* (make-hash-table)) (defvar *next* (let ((n 0)) (lambda (&optional (by 0)) (incf n by)))) :there)`)
	harness.WantRuns(t, s, `(progn (dotimes (i 1000) (setf (gethash (random 100000) *table*) (random 100000 (load-time-value (make-random-state t))))) (funcall *next* 1) :done)`)
	return digestOf(t, s)
}

func digestOf(t *testing.T, s *harness.Server) string {
	t.Helper()
	text, failed := harness.Eval(t, s, diskDigest)
	name := strings.Trim(strings.TrimPrefix(strings.SplitN(text, "\n", 2)[0], "=> "), `"`)
	if failed || !strings.HasPrefix(name, "d") {
		t.Fatalf("the digest: %s", text)
	}
	return name
}

// saveToDisk begins to save what the session has under the name.
func saveToDisk(t *testing.T, s *harness.Server, name string) {
	t.Helper()
	harness.Says(t, harness.Good(t, s, "checkpoint", harness.Object{"name": name, "disk": true}), "It is being saved to")
}

// savedToDisk waits until nothing is being saved any more.
func savedToDisk(t *testing.T, s *harness.Server) {
	t.Helper()
	if await.Until(func() bool {
		return !strings.Contains(harness.Good(t, s, "checkpoint", harness.Object{}), "being saved")
	}) != nil {
		t.Fatal("a checkpoint is still being saved")
	}
}

// manifests returns the names of the checkpoints that are said to be in a directory.
func manifests(dir string) (names []string) {
	files, _ := filepath.Glob(filepath.Join(dir, ".swank-mcp", "[^.]*.json")) // not what was being written
	for _, f := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(f), ".json"))
	}
	return names
}

// wantRestored fails the test unless the checkpoint restores to the digest that it is
// called by.
func wantRestored(t *testing.T, dir, name string) {
	t.Helper()
	s := harness.Start(t, "--session-dir", dir, "--resume", name)
	if got := digestOf(t, s); got != name {
		t.Errorf("checkpoint %s restores to %s", name, got)
	}
	harness.Check(t, s.Close(await.Ceiling))
}

// saver returns the process below pid that saves a core, or 0: its output goes nowhere.
func saver(pid int) int {
	for _, kid := range harness.Descendants(pid) {
		if out, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/1", kid)); err == nil && out == os.DevNull {
			return kid
		}
	}
	return 0
}

// TestDiskKilled kills the server, or the process that saves, at random moments of saving:
// every checkpoint that is there is a whole one, and nothing is left of the others.
func TestDiskKilled(t *testing.T) {
	tier.More(t)
	t.Parallel()
	dir := t.TempDir()
	random := rand.New(rand.NewPCG(*diskSeed, 0))
	s := harness.Start(t, "--session-dir", dir)
	name := changeDisk(t, s)
	began := time.Now()
	saveToDisk(t, s, name)
	savedToDisk(t, s)
	whole := time.Since(began)
	harness.Check(t, s.Close(await.Ceiling))
	began = time.Now()
	s = harness.Start(t, "--session-dir", dir, "--resume", name)
	harness.Says(t, harness.Good(t, s, "evaluate-lisp", harness.Object{"code": "1"}), "Your work from", "is back: 2 definitions")
	t.Logf("saved in %v; from the start of the server to the first reply: %v", whole, time.Since(began))
	harness.Check(t, s.Close(await.Ceiling))
	good := map[string]bool{name: true}
	killed, late := 0, 0
	for range *diskKills {
		s := harness.Start(t, "--session-dir", dir, "--resume", name)
		next := changeDisk(t, s)
		kids := harness.Descendants(s.PID())
		saveToDisk(t, s, next)
		time.Sleep(time.Duration(random.Int64N(int64(whole * 5 / 4))))
		pid := saver(s.PID())
		if pid != 0 {
			kids = append(kids, pid)
		}
		if pid != 0 && random.IntN(2) == 0 {
			harness.Check(t, syscall.Kill(pid, syscall.SIGKILL))
			savedToDisk(t, s)
			harness.Check(t, s.Close(await.Ceiling))
			killed++
		} else {
			harness.Check(t, syscall.Kill(s.PID(), syscall.SIGKILL))
			<-s.Exited()
			if pid == 0 {
				late++
			}
		}
		harness.WantGone(t, kids)
		for _, name := range manifests(dir) {
			if !good[name] {
				wantRestored(t, dir, name)
				good[name] = true
			}
		}
	}
	t.Logf("%d kills, %d of the process that saves, %d while none was there; %d checkpoints are there", *diskKills, killed, late, len(good))
	for name := range good {
		wantRestored(t, dir, name)
	}
	s = harness.Start(t, "--session-dir", dir, "--resume", name)
	next := changeDisk(t, s)
	saveToDisk(t, s, next)
	savedToDisk(t, s)
	files, _ := filepath.Glob(filepath.Join(dir, ".swank-mcp", "*.core"))
	hidden, _ := filepath.Glob(filepath.Join(dir, ".swank-mcp", ".new-*"))
	if names := manifests(dir); len(files) != len(names) || len(hidden) > 0 {
		t.Errorf("%d cores for %d checkpoints, and %q", len(files), len(names), hidden)
	}
}

// TestDiskFull saves checkpoints to disks that are too small, or that fill up meanwhile.
func TestDiskFull(t *testing.T) {
	tier.More(t)
	t.Parallel()
	random := rand.New(rand.NewPCG(*diskSeed, 1))
	for i := range *diskFull {
		dir := t.TempDir()
		size := 8 + random.IntN(28) // too small from the beginning
		if i%2 == 1 {
			size = 110 // filled up meanwhile
		}
		if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%dm", size)); err != nil {
			t.Skipf("mounting a small disk needs root: %v", err)
		}
		t.Cleanup(func() { _ = syscall.Unmount(dir, 0) })
		s := harness.StartWith(t, wire.Options{}, "--session-dir", dir)
		name := changeDisk(t, s)
		saveToDisk(t, s, name)
		if i%2 == 1 {
			time.Sleep(time.Duration(random.Int64N(int64(3 * time.Second))))
			_ = os.WriteFile(filepath.Join(dir, "filler"), make([]byte, 105<<20), 0o600) // until there is no room
		}
		savedToDisk(t, s)
		text := harness.Good(t, s, "evaluate-lisp", harness.Object{"code": "1"})
		names := manifests(dir)
		switch {
		case len(names) == 0:
			harness.Says(t, text, "was not saved to the disk")
			if i%2 == 0 {
				harness.Says(t, text, "the core needs some ", " MiB, and the disk of ", " MiB left")
			}
			cores, _ := filepath.Glob(filepath.Join(dir, ".swank-mcp", "*core*"))
			hidden, _ := filepath.Glob(filepath.Join(dir, ".swank-mcp", ".new-*"))
			if left := append(cores, hidden...); len(left) > 0 {
				t.Errorf("left on a full disk: %q", left)
			}
		default:
			harness.Says(t, text, "is on the disk")
		}
		harness.Check(t, s.Close(await.Ceiling))
		for _, name := range names {
			wantRestored(t, dir, name)
		}
		t.Logf("a disk of %d MB: %s", size, strings.ReplaceAll(text, "\n", " "))
	}
}
