package lisp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// fakeSender records what is sent, in order.
type fakeSender struct {
	name  string
	log   *[]string
	begun bool // what withdraw is told
	lanes []*lane
}

func (f *fakeSender) send(l *lane) bool {
	*f.log = append(*f.log, f.name)
	f.lanes = append(f.lanes, l)
	return true
}

func (f *fakeSender) withdraw() bool { return !f.begun }

func TestSentAheadInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var q turns
		var log []string
		l := &lane{}
		holder := &turn{limit: time.Minute, ahead: &fakeSender{name: "holder", log: &log}}
		if err := q.take(t.Context(), holder); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		enter := func(name string, s sender) {
			wg.Go(func() {
				me := &turn{limit: time.Minute, ahead: s}
				if err := q.take(t.Context(), me); err != nil {
					t.Error(name, err)
					return
				}
				q.sent(me, l)
				time.Sleep(time.Second)
				q.done()
			})
			synctest.Wait()
		}
		for i := range 4 {
			name := fmt.Sprint(i)
			enter(name, &fakeSender{name: name, log: &log})
		}
		enter("not ahead", nil) // such as reset-session
		enter("after it", &fakeSender{name: "after it", log: &log})
		if len(log) != 0 {
			t.Fatalf("sent before the holder: %v", log)
		}
		q.sent(holder, l)
		synctest.Wait()
		if got, want := strings.Join(log, " "), "0 1"; got != want {
			t.Errorf("sent ahead: %s, want %s", got, want)
		}
		q.done()
		wg.Wait()
		// The last one may be sent only behind the one that may not.
		if got, want := strings.Join(log, " "), "0 1 2 3"; got != want {
			t.Errorf("sent ahead in the end: %s, want %s", got, want)
		}
	})
}

func TestSentAheadAndBegunKeepsItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var q turns
		var log []string
		holder := &turn{limit: time.Minute, ahead: &fakeSender{log: &log}}
		if err := q.take(t.Context(), holder); err != nil {
			t.Fatal(err)
		}
		q.sent(holder, &lane{})
		for _, begun := range []bool{true, false} {
			got := make(chan error, 1)
			go func() {
				got <- q.take(t.Context(), &turn{limit: time.Second, ahead: &fakeSender{log: &log, begun: begun}})
			}()
			time.Sleep(2 * time.Second)
			synctest.Wait()
			if !begun {
				var busy *BusyError
				if err := <-got; !errors.As(err, &busy) {
					t.Errorf("one that has not begun = %v, want a *BusyError", err)
				}
				continue
			}
			select {
			case err := <-got:
				t.Errorf("one that has begun left its turn: %v", err)
			default:
			}
			q.done()
			if err := <-got; err != nil {
				t.Error(err)
			}
			synctest.Wait()
			q.mu.Lock()
			h := q.holder
			q.mu.Unlock()
			q.sent(h, &lane{})
		}
	})
}

// background evaluates code on a goroutine; the function returned waits for it.
func background(t *testing.T, ctx context.Context, im *Image, code string, timeout time.Duration) func() (*Result, error) {
	t.Helper()
	type outcome struct {
		res *Result
		err error
	}
	queued, done := make(chan struct{}), make(chan outcome, 1)
	var once sync.Once
	go func() {
		res, err := im.Evaluate(ctx, "default", Request{Code: code, Timeout: timeout, Debug: 1,
			Queued: func() { once.Do(func() { close(queued) }) }})
		done <- outcome{res, err}
	}()
	<-queued
	return func() (*Result, error) { o := <-done; return o.res, o.err }
}

func waitSent(t *testing.T, im *Image, n int) {
	t.Helper()
	q := &im.session("default").turns
	for range 500 {
		sent := 0
		q.mu.Lock()
		for _, w := range q.waiting {
			if w.lane != nil {
				sent++
			}
		}
		q.mu.Unlock()
		if sent == n {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%d evaluations were not sent ahead", n)
}

func TestSentAheadIsWithdrawn(t *testing.T) {
	im := testImage(t)
	mustEval(t, im, "(defvar *trace* '())")
	first := background(t, t.Context(), im, "(progn (sleep 1.5) (push 1 *trace*))", 20*time.Second)
	late := background(t, t.Context(), im, "(push :late *trace*)", 500*time.Millisecond)
	ctx, cancel := context.WithCancel(t.Context())
	gone := background(t, ctx, im, "(push :gone *trace*)", 20*time.Second)
	waitSent(t, im, 2)
	last := background(t, t.Context(), im, "(push 2 *trace*)", 20*time.Second)
	cancel()
	var busy *BusyError
	if _, err := late(); !errors.As(err, &busy) {
		t.Errorf("the one whose time was up: %v, want a *BusyError", err)
	}
	if _, err := gone(); !errors.Is(err, context.Canceled) {
		t.Errorf("the one that was cancelled: %v", err)
	}
	for _, wait := range []func() (*Result, error){first, last} {
		if res, err := wait(); err != nil || res.Failure != nil {
			t.Errorf("one that stayed: %+v, %v", res, err)
		}
	}
	if got := mustEval(t, im, "*trace*"); got != "(2 1)" {
		t.Errorf("*trace* = %s, want (2 1)", got)
	}
}

// Behind an evaluation that costs the image nothing has begun, so that what
// was sent there is evaluated in the next image.
func TestSentAheadOfAnImageThatIsReplaced(t *testing.T) {
	im := testImage(t)
	mustEval(t, im, "(defun f () :kept)")
	first := background(t, t.Context(), im, "(sb-sys:without-interrupts (loop))", time.Second)
	second := background(t, t.Context(), im, "(list 2 (f))", 20*time.Second)
	third := background(t, t.Context(), im, "(list 3 (f))", 20*time.Second)
	waitSent(t, im, 2)
	if res, err := first(); err != nil || res.Failure == nil || res.Failure.Type != typeReplaced {
		t.Fatalf("the first: %+v, %v", res, err)
	}
	for i, wait := range []func() (*Result, error){second, third} {
		res, err := wait()
		if err != nil || res.Failure != nil {
			t.Fatalf("number %d: %+v, %v", i+2, res, err)
		}
		if got, want := res.Values[0].Head, fmt.Sprintf("(%d :KEPT)", i+2); got != want {
			t.Errorf("number %d = %s, want %s", i+2, got, want)
		}
	}
}

// What was sent to an image that died by itself may have begun, and is not
// evaluated a second time.
func TestSentAheadOfAnImageThatDies(t *testing.T) {
	im := testImage(t)
	mustEval(t, im, "(defun f () :kept)")
	first := background(t, t.Context(), im, `(progn (sleep 1) (sb-posix:kill (sb-posix:getpid) 9) (sleep 5))`, 20*time.Second)
	second := background(t, t.Context(), im, "(list 2 (f))", 20*time.Second)
	waitSent(t, im, 1)
	for i, wait := range []func() (*Result, error){first, second} {
		if res, err := wait(); err != nil || res.Failure == nil || res.Failure.Kind != KindImageDied {
			t.Errorf("number %d: %+v, %v", i+1, res, err)
		}
	}
	if got := mustEval(t, im, "(f)"); got != ":KEPT" {
		t.Errorf("afterwards (f) = %s", got)
	}
}

// The thread ends under an evaluation; what was sent to it goes to the next one.
func TestSentAheadToAThreadThatEnds(t *testing.T) {
	im := testImage(t)
	mustEval(t, im, "(defvar *trace* '())")
	mustEval(t, im, `(defvar *killer* (let ((victim sb-thread:*current-thread*))
  (sb-thread:make-thread (lambda () (sleep 1) (sb-thread:terminate-thread victim)))))`)
	first := background(t, t.Context(), im, "(progn (push 1 *trace*) (sleep 3) (push :not *trace*))", 4*time.Second)
	second := background(t, t.Context(), im, "(push 2 *trace*)", 20*time.Second)
	third := background(t, t.Context(), im, "(push 3 *trace*)", 20*time.Second)
	waitSent(t, im, 2)
	first()
	for i, wait := range []func() (*Result, error){second, third} {
		if res, err := wait(); err != nil || res.Failure != nil {
			t.Errorf("number %d: %+v, %v", i+2, res, err)
		}
	}
	if got := mustEval(t, im, "*trace*"); got != "(3 2 1)" {
		t.Errorf("*trace* = %s, want (3 2 1)", got)
	}
}

// An image that is slow to say whether it has begun what is withdrawn may
// withdraw it after the bridge has stopped to ask. The caller is told that the
// session was busy, not that somebody has cancelled the call.
func TestWithdrawnWithoutAnAnswer(t *testing.T) {
	im := testImage(t)
	mustEval(t, im, "(defvar *times* 0)")
	pid := im.cur.proc.pid()
	var wg sync.WaitGroup
	defer wg.Wait()
	queued := make(chan struct{})
	wg.Go(func() {
		res, err := im.Evaluate(t.Context(), "default", Request{Code: "(sleep 6)", Timeout: time.Minute, Debug: 1,
			Queued: func() { close(queued) }})
		if err != nil || res.Failure != nil {
			t.Errorf("the one before: %+v, %v", res, err)
		}
	})
	<-queued
	time.Sleep(200 * time.Millisecond)
	wg.Go(func() {
		time.Sleep(300 * time.Millisecond) // it has been sent, and its time is not up
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			t.Error(err)
		}
		time.Sleep(withdrawLimit + 1500*time.Millisecond)
		if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
			t.Error(err)
		}
	})
	res, err := im.Evaluate(t.Context(), "default", Request{Code: "(incf *times*)", Timeout: time.Second, Debug: 1})
	var busy *BusyError
	if !errors.As(err, &busy) || busy.Code != "(sleep 6)" || busy.Waited != time.Second {
		t.Errorf("got %+v, %v", res, err)
	}
	if got := mustEval(t, im, "*times*"); got != "0" {
		t.Errorf("it was evaluated %s times", got)
	}
}
