package lisp

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"swank-mcp/internal/stall"
)

// An image that hardly runs has its checkpoints, undo and trials, and nothing false is said of
// it.
func TestCheckpointStalled(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("which processes are ours is not known")
	}
	ways, rounds := stall.Ways, *stall.Rounds
	if rounds == 0 {
		ways, rounds = ways[:1], 2
	}
	const ticker = `(defvar *ending* nil)
(defvar *ticker* nil)
(defun start-ticker () (setf *ending* nil *ticker* (sb-thread:make-thread (lambda () (loop until *ending* do (sleep 0.01))) :name "ticker")))
(push (lambda () (setf *ending* t) (sb-thread:join-thread *ticker*)) swank-mcp:*before-checkpoint*)
(push 'start-ticker swank-mcp:*after-restore*)
(start-ticker)`
	for _, w := range ways {
		for _, program := range []struct{ name, code string }{{"no threads", "nil"}, {"a thread", ticker}} {
			t.Run(w.Name+", "+program.name, func(t *testing.T) {
				im := testImage(t)
				s := im.Session("default")
				mustEval(t, im, "(defvar *n* 0)")
				mustEval(t, im, program.code)
				began := time.Now()
				stop := stall.Children(t, w)
				for i := range rounds {
					stalledRound(t, s, fmt.Sprint(i+1))
				}
				stop()
				t.Logf("%d rounds in %v", rounds, time.Since(began).Round(time.Millisecond))
				if _, obstacle := s.Checkpoints(); obstacle != nil {
					t.Errorf("it is said that there was no checkpoint: %v", obstacle)
				}
				for _, c := range said(s) {
					t.Errorf("it is said: %s", c)
				}
			})
		}
	}
}

// said returns the notes that the next reply of the session would have.
func said(s *Session) []string {
	s.im.mu.Lock()
	defer s.im.mu.Unlock()
	return s.notes
}

// stalledRound takes a checkpoint, tries something, changes something and undoes that, in an
// image in which *N* is one less than n.
func stalledRound(t *testing.T, s *Session, n string) {
	t.Helper()
	im := s.im
	if got := mustEval(t, im, "(incf *n*)"); got != n {
		t.Fatalf("*n* is %s, want %s", got, n)
	}
	name := "round-" + n
	if _, err := s.TakeCheckpoint(t.Context(), name, callLimit); err != nil {
		t.Fatalf("taking checkpoint %s: %v", name, err)
	}
	res, err := s.Evaluate(t.Context(), Request{Code: "(incf *n* 1000)", Trial: true, Timeout: callLimit, Debug: 1})
	if err != nil || res.Failure != nil || len(res.Values) != 1 || !strings.HasPrefix(res.Values[0].Head, "10") {
		t.Fatalf("the trial: %v, %+v", err, res)
	}
	mustEval(t, im, "(setf *n* -1)")
	u, err := s.Undo(t.Context(), 0, name, callLimit)
	if err != nil {
		t.Fatalf("undo: %v", err)
	}
	if u.Redo != "" {
		t.Errorf("what is undone cannot be redone: %s", u.Redo)
	}
	if got := mustEval(t, im, "*n*"); got != n {
		t.Fatalf("after the undo *n* is %s, want %s", got, n)
	}
}
