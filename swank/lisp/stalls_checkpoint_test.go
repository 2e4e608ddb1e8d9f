package lisp

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

var stallsCheckpoints = flag.Bool("stalls.checkpoints", false, "TestCheckpointStalled also has the image run 10 ms in 200, and stall for 3.5 s in 3.8")

// steppedChildren has all our children run for a while and then hold, in turn, until the
// caller calls stop or the test ends: images, copies, and what these make.
func steppedChildren(t *testing.T, run, hold time.Duration) (stop func()) {
	t.Helper()
	over, ended := make(chan struct{}), make(chan struct{})
	send := func(signal syscall.Signal) {
		lists, _ := filepath.Glob("/proc/self/task/[0-9]*/children")
		for _, list := range lists {
			text, _ := os.ReadFile(list)
			for _, child := range strings.Fields(string(text)) {
				if pid, err := strconv.Atoi(child); err == nil {
					_ = syscall.Kill(pid, signal)
				}
			}
		}
	}
	pause := func(d time.Duration) bool {
		select {
		case <-over:
			return false
		case <-time.After(d):
			return true
		}
	}
	go func() {
		defer close(ended)
		defer send(syscall.SIGCONT)
		for pause(run) {
			send(syscall.SIGSTOP)
			if !pause(hold) {
				return
			}
			send(syscall.SIGCONT)
		}
	}()
	stop = sync.OnceFunc(func() {
		close(over)
		<-ended
	})
	t.Cleanup(stop)
	return stop
}

// An image that hardly runs has its checkpoints, undo and trials, and nothing false is said of
// it.
func TestCheckpointStalled(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("which processes are ours is not known")
	}
	type pattern struct {
		run, hold time.Duration
		rounds    int
	}
	patterns := []pattern{{3 * time.Millisecond, 97 * time.Millisecond, 2}}
	if *stallsCheckpoints {
		patterns = []pattern{
			{3 * time.Millisecond, 97 * time.Millisecond, 20},
			{10 * time.Millisecond, 190 * time.Millisecond, 20},
			{300 * time.Millisecond, 3500 * time.Millisecond, 20},
		}
	}
	const ticker = `(defvar *ending* nil)
(defvar *ticker* nil)
(defun start-ticker () (setf *ending* nil *ticker* (sb-thread:make-thread (lambda () (loop until *ending* do (sleep 0.01))) :name "ticker")))
(push (lambda () (setf *ending* t) (sb-thread:join-thread *ticker*)) swank-mcp:*before-checkpoint*)
(push 'start-ticker swank-mcp:*after-restore*)
(start-ticker)`
	for _, pattern := range patterns {
		for _, program := range []struct{ name, code string }{{"no threads", "nil"}, {"a thread", ticker}} {
			t.Run(fmt.Sprintf("%v in %v, %s", pattern.run, pattern.run+pattern.hold, program.name), func(t *testing.T) {
				im := testImage(t)
				s := im.Session("default")
				mustEval(t, im, "(defvar *n* 0)")
				mustEval(t, im, program.code)
				began := time.Now()
				stop := steppedChildren(t, pattern.run, pattern.hold)
				for i := range pattern.rounds {
					stalledRound(t, s, fmt.Sprint(i+1))
				}
				stop()
				t.Logf("%d rounds in %v", pattern.rounds, time.Since(began).Round(time.Millisecond))
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
