package lisp

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
	"swank-mcp/swank/lisp/kept"
)

// die ends the image, as the kernel does, and waits until it is seen.
func die(t *testing.T, im *Image) {
	t.Helper()
	im.mu.Lock()
	inst := im.cur
	im.mu.Unlock()
	inst.kill("killed by the test")
	<-inst.proc.Exited()
}

// onDisk returns a configuration with checkpoints on the disk of a directory of its own.
func onDisk(t *testing.T) Config {
	t.Helper()
	cores, err := kept.CoresIn(nil, t.TempDir(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return Config{Launch: launched(t), Cores: cores}
}

// saveAll saves the image to the disk as at the end of a server.
func saveAll(t *testing.T, im *Image) {
	t.Helper()
	if err := im.autosave(t.Context(), true); err != nil {
		t.Fatalf("saving: %v", err)
	}
}

// notesOf evaluates code in a session and returns its value and the notes.
func notesOf(t *testing.T, im *Image, session, code string) string {
	t.Helper()
	res, err := im.Session(session).Evaluate(t.Context(), Request{Code: code, Timeout: callLimit, Debug: 1})
	if err != nil || res.Failure != nil {
		t.Fatalf("%s: Evaluate(%q): %v, %+v", session, code, err, res)
	}
	return res.Values[0].Head + "\n" + strings.Join(res.Notes, "\n")
}

// What a session had defined that was not brought back yet is not lost when another
// session takes the image back to a checkpoint that was taken then.
func TestUndoBesideSessionNotBack(t *testing.T) {
	t.Parallel()
	im := testImage(t)
	in(t, im, "a", "(defvar *a* (list 1))")
	in(t, im, "b", "(defvar *b* 1)")
	checkpointNow(t, im)
	in(t, im, "a", "(defun fa () *a*)")
	die(t, im)
	in(t, im, "b", "(setf *b* 2)") // a is not brought back yet
	checkpointNow(t, im)
	in(t, im, "b", "(setf *b* 3)")
	if u, err := im.Session("b").Undo(t.Context(), 1, "", 10*time.Second); err != nil || u.Extra != 0 {
		t.Fatalf("undo: %+v, %v", u, err)
	}
	if got := in(t, im, "a", "(list (fa) *b*)"); got != "((1) 2)" {
		t.Errorf("a has %s", got)
	}
	if got := sections(t, im, "a"); got != "variables: *A* = (1); functions: FA ()" {
		t.Errorf("a has defined %s", got)
	}
}

// A core on the disk has, as source, what the image lacks that it is of: the server ended
// before it was brought back.
func TestSavedBeforeBack(t *testing.T) {
	tier.More(t)
	t.Parallel()
	config := onDisk(t)
	im := imageOf(t, config)
	in(t, im, "a", "(defvar *a* (list 1))")
	in(t, im, "a", "(push 0 *a*)")
	checkpointNow(t, im)
	in(t, im, "a", "(defun late () *a*)")
	die(t, im)
	if _, err := im.acquire(t.Context(), time.Minute); err != nil {
		t.Fatal(err)
	}
	saveAll(t, im)
	if core := config.Cores.List()[0]; core.Summary != "2 definitions" {
		t.Errorf("the core has %s", core.Summary)
	}
	config.Resume = kept.Last
	next := imageOf(t, config)
	if got := notesOf(t, next, "a", "(late)"); !strings.HasPrefix(got, "(0 1)") || !strings.HasSuffix(got, ": 2 definitions. Evaluated again: 1 definition.") {
		t.Errorf("(late) => %s", got)
	}
	if got := sections(t, next, "a"); got != "variables: *A* = (0 1); functions: LATE ()" {
		t.Errorf("a has defined %s", got)
	}
}

// What a job has defined that ended before a checkpoint is in it, and is not evaluated
// again.
func TestCheckpointAfterJob(t *testing.T) {
	t.Parallel()
	im := testImage(t)
	s := im.Session("default")
	res, err := s.Evaluate(t.Context(), Request{Code: "(progn (defparameter *n* 0)) (setf *n* 41)", Timeout: 20 * time.Second, Debug: 1, Background: true, JobLimit: time.Minute})
	if err != nil || res.Job == 0 {
		t.Fatalf("no job: %+v, %v", res, err)
	}
	b, _, err := s.background.find(res.Job)
	if err != nil {
		t.Fatal(err)
	}
	<-b.done
	_ = im.working.lock(t.Context()) // without a turn, in which the session would hear of it
	_ = await.Until(func() bool { _, err = im.current(t.Context(), "", time.Second); return err == nil })
	im.working.unlock()
	if err != nil {
		t.Fatal(err)
	}
	die(t, im)
	if got := notesOf(t, im, "default", "*n*"); !strings.HasPrefix(got, "41\n") || strings.Contains(got, "Evaluated again") {
		t.Errorf("*n* => %s", got)
	}
	if got := s.journal.Summary(); got != "1 definition" {
		t.Errorf("the session has %s", got)
	}
}

// What the sessions of a core have defined that a server goes on from and that have not
// been used since is in its next core, too.
func TestSessionsOfCoreStay(t *testing.T) {
	tier.More(t)
	t.Parallel()
	config := onDisk(t)
	im := imageOf(t, config)
	in(t, im, "a", "(defun fa () 1)")
	in(t, im, "b", "(defun fb () 1)")
	saveAll(t, im)
	config.Resume = kept.Last
	time.Sleep(time.Until(config.Cores.List()[0].Time.Add(1100 * time.Millisecond))) // its name has seconds
	next := imageOf(t, config)
	in(t, next, "b", "(defun fc () (fb))")
	saveAll(t, next)
	if source, err := os.ReadFile(config.Cores.List()[0].Source()); err != nil || !strings.Contains(string(source), "(defun fa ()") {
		t.Errorf("the source: %v\n%s", err, source)
	}
	third := imageOf(t, config)
	if got := notesOf(t, third, "a", "(fa)"); !strings.Contains(got, "is back: 1 definition.") {
		t.Errorf("(fa) => %s", got)
	}
	if got := sections(t, third, "a"); got != "functions: FA ()" {
		t.Errorf("a has defined %s", got)
	}
}

// Where no checkpoint can be taken, an image that has died is replaced from the core that
// it went on from, as often as it dies; and with the definitions only when that is gone.
func TestResumedAgain(t *testing.T) {
	tier.More(t)
	t.Parallel()
	config := onDisk(t)
	im := imageOf(t, config)
	in(t, im, "a", "(defun fa () 1)")
	in(t, im, "b", "(defvar *h* (list 99))")
	saveAll(t, im)
	config.Resume = kept.Last
	config.NoCheckpoints = true
	next := imageOf(t, config)
	in(t, next, "b", "(defun h () (first *h*))")
	in(t, next, "b", "(setf *h* (list 1))")
	for range 4 {
		die(t, next)
		if got := notesOf(t, next, "b", "(h)"); !strings.HasPrefix(got, "99\n") || !strings.Contains(got, " on the disk was at ") || !strings.Contains(got, "Evaluated again: 1 definition.") {
			t.Fatalf("(h) => %s", got)
		}
	}
	die(t, next)
	config.Cores.Drop(config.Cores.List()[0].Name)
	if got := notesOf(t, next, "b", "(h)"); !strings.HasPrefix(got, "99\n") || !strings.Contains(got, "Restored: 2 definitions.") {
		t.Errorf("without the core: (h) => %s", got)
	}
	if got := notesOf(t, next, "a", "(fa)"); !strings.Contains(got, "Restored: 1 definition.") {
		t.Errorf("of a session that comes then: %s", got)
	}
}

// A core in which something ends the image at once is given up.
func TestResumedInVain(t *testing.T) {
	tier.More(t)
	t.Parallel()
	config := onDisk(t)
	im := imageOf(t, config)
	in(t, im, "default", "(defvar *x* (list 1))")
	saveAll(t, im)
	config.Resume, config.NoCheckpoints = kept.Last, true
	next := imageOf(t, config)
	mustEval(t, next, "(defun f () *x*)")
	for range 5 {
		die(t, next)
		if _, err := next.acquire(t.Context(), time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	if got := notesOf(t, next, "default", "(f)"); !strings.Contains(got, "Restored: 2 definitions.") {
		t.Errorf("(f) => %s", got)
	}
}

// A definition that costs the image when it is evaluated again is left out, and those
// beside it are there: on top of a checkpoint, and on top of a core.
func TestBackOnTopIsHostile(t *testing.T) {
	tier.More(t)
	t.Parallel()
	config := onDisk(t)
	im := imageOf(t, config)
	in(t, im, "a", "(defvar *a* 1) (defun g () 1) (defun h () 2) (defun i () 3)")
	checkpointNow(t, im)
	trap := filepath.Join(t.TempDir(), "trap")
	in(t, im, "a", fmt.Sprintf("(defun good () *a*) (defun other () *a*) (macrolet ((bad () (when (probe-file %q) (sb-alien:alien-funcall (sb-alien:extern-alien \"abort\" (function sb-alien:void)))) 1)) (defun bad () (bad)))", trap))
	die(t, im)
	if _, err := im.acquire(t.Context(), time.Minute); err != nil {
		t.Fatal(err)
	}
	saveAll(t, im)
	if err := os.WriteFile(trap, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wants := func(im *Image) {
		t.Helper()
		got := notesOf(t, im, "a", "(list (good) (other) (fboundp 'bad))")
		if !strings.HasPrefix(got, "(1 1 NIL)") || !strings.Contains(got, "Evaluated again: 2 definitions. Not restored: function BAD") {
			t.Errorf("there is %s", got)
		}
		im.mu.Lock()
		defer im.mu.Unlock()
		if im.starts > 4 {
			t.Errorf("it has cost %d images", im.starts)
		}
	}
	wants(im)
	config.Resume = kept.Last
	wants(imageOf(t, config))
}
