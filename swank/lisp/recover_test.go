package lisp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"swank-mcp/internal/await"
	"swank-mcp/swank/lisp/journal"
)

// What an image says when it is stopped in bringing back is a sentence already.
func TestBroughtToAnEnd(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		f    Failure
		want string
	}{
		{Failure{Type: "EXIT-REFUSED", Message: "It is not ended: the session lives in it."}, "EXIT-REFUSED: It is not ended: the session lives in it."},
		{Failure{Type: "ABORTED"}, "ABORTED."},
		{Failure{Kind: KindTimeout}, "it took too long."},
	} {
		if got := broughtToAnEnd(&c.f); got != "Bringing the session back was stopped: "+c.want {
			t.Errorf("%+v: %s", c.f, got)
		}
	}
}

// slowly is a definition that waits at the *await.Gate, which is open when it is evaluated for the
// first time. That has to take a while: what did may take twenty times as long when it is
// brought back, here half a minute.
func slowly(g *await.Gate) string {
	return fmt.Sprintf("(defparameter *slow* (progn %s (sleep 1.5) 1))", g.Wait())
}

// A caller who does not wait for a session to be brought back, as a client with
// a short time limit of its own, must not cost the session its definitions.
func TestRecoveryOutlivesImpatientCallers(t *testing.T) {
	t.Parallel()
	im := testImage(t)
	g := await.NewGate(t)
	g.Open()
	mustEval(t, im, slowly(g)+" (defun kept () 42)")
	im.mu.Lock()
	first := im.cur
	im.mu.Unlock()
	if err := syscall.Kill(first.proc.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-first.proc.Exited()
	impatient := errors.New("the caller does not wait")
	for range 3 {
		g.Shut()
		inst, err := im.acquire(t.Context(), time.Minute) // so that the time runs out while the session is evaluated
		if err != nil {
			t.Fatal(err)
		}
		ctx, leave := context.WithCancelCause(t.Context())
		wait := background(t, ctx, im, "(kept)", time.Minute)
		g.Reached()
		leave(impatient)
		if _, err = wait(); !errors.Is(err, impatient) || inst.over() {
			t.Fatalf("Evaluate = %v, over: %v", err, inst.over())
		}
	}
	g.Open()
	res, err := im.Session("default").Evaluate(t.Context(), Request{Code: "(kept)", Timeout: time.Minute, Debug: 1})
	if err != nil || res.Failure != nil || len(res.Values) != 1 || res.Values[0].Head != "42" {
		t.Fatalf("got %+v, %v", res, err)
	}
	if notes := strings.Join(res.Notes, "\n"); !strings.Contains(notes, "Restored: 2 definitions") {
		t.Errorf("notes: %s", notes)
	}
}

// A definition that does not fit into a message is told as lost, alone: the
// others come back, those of its batch too.
func TestRestoresWhatFits(t *testing.T) {
	t.Parallel()
	// A checkpoint would have all but what only the journal has here.
	im := imageOf(t, Config{Launch: launched(t), NoCheckpoints: true})
	mustEval(t, im, "(defun before () 1)")
	s := im.Session("default")
	for _, name := range []string{"*LARGE*", "*SMALL*"} {
		n := 1
		if name == "*LARGE*" {
			n = 3 << 20 // a quote takes four bytes, its backslash too
		}
		s.journal.Add(&journal.Entry{Keys: []string{"(:VARIABLE . " + name + ")"}, Text: "(defvar " + name + ` "` + strings.Repeat(`\"`, n) + `")`, Package: "COMMON-LISP-USER"})
	}
	mustEval(t, im, "(defun after () 2)")
	killed(t, im, im.cur.proc.PID())
	value, notes := evaluated(t, im, "(list (before) (after) (length *small*) (boundp '*large*))")
	if value != "(1 2 1 NIL)" || !strings.Contains(notes, "Restored: 3 definitions.") ||
		!strings.Contains(notes, "Not restored: variable *LARGE* (its source is too large for one message to the image).") {
		t.Errorf("%s, %s", value, notes)
	}
}

// What is broken off for time is tried again. One that does not end the second time either is named
// and kept: it is back when it ends in the image after the next death.
func TestRestoresWhatWasStalled(t *testing.T) {
	t.Parallel()
	im := testImage(t)
	once, always := filepath.Join(t.TempDir(), "once"), filepath.Join(t.TempDir(), "always")
	mustEval(t, im, fmt.Sprintf(`(defparameter *stalled* (if (probe-file %q) (progn (delete-file %[1]q) (sleep 100)) 1))
(defparameter *hung* (if (probe-file %q) (sleep 100) 1))`, once, always))
	for _, file := range []string{once, always} {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	killed(t, im, im.cur.proc.PID())
	value, notes := evaluated(t, im, "(list *stalled* (boundp '*hung*))")
	if value != "(1 NIL)" || !strings.Contains(notes, "Restored: 1 definition.") ||
		!strings.Contains(notes, "Not restored: variable *HUNG* (it did not end within ") {
		t.Errorf("%s, %s", value, notes)
	}
	if err := os.Remove(always); err != nil {
		t.Fatal(err)
	}
	killed(t, im, im.cur.proc.PID())
	value, notes = evaluated(t, im, "(list *stalled* *hung*)")
	if value != "(1 1)" || !strings.Contains(notes, "Restored: 2 definitions.") || strings.Contains(notes, "Not restored") {
		t.Errorf("after another death: %s, %s", value, notes)
	}
}

// A definition has much time to come back, and a caller who does not wait can leave meanwhile.
func TestStopsALongDefinition(t *testing.T) {
	t.Parallel()
	im := testImage(t)
	g := await.NewGate(t)
	g.Open()
	mustEval(t, im, fmt.Sprintf("(defmacro slowly () (progn %s 1)) (defun f () (slowly)) (defun kept () 42)", g.Wait()))
	killed(t, im, im.cur.proc.PID())
	g.Shut()
	ctx, leave := context.WithCancelCause(t.Context())
	wait := background(t, ctx, im, "(kept)", time.Minute)
	g.Reached()
	im.mu.Lock()
	pid := im.cur.proc.PID()
	im.mu.Unlock()
	impatient := errors.New("the caller does not wait")
	leave(impatient)
	if _, err := wait(); !errors.Is(err, impatient) {
		t.Fatal(err)
	}
	g.Open()
	if value, notes := evaluated(t, im, "(list (f) (kept))"); value != "(1 42)" || strings.Contains(notes, "Not restored") || im.cur.proc.PID() != pid {
		t.Errorf("%s, %s", value, notes)
	}
}

// What brings a session back has a limit, too.
func TestBringingBackEnds(t *testing.T) {
	t.Parallel()
	im := testImage(t)
	_, res, _, err := im.Session("default").BringBack(t.Context(), SessionSource{File: "session.lisp", Text: "(loop (sleep 0.01))"}, Request{Timeout: 100 * time.Millisecond})
	if err != nil || res.Failure == nil || res.Failure.Kind != KindTimeout {
		t.Errorf("BringBack = %+v, %v", res, err)
	}
}
