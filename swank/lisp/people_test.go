package lisp

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

// evaluating evaluates code in a goroutine and returns its result when it is there.
func evaluating(t *testing.T, im *Image, session, code string) <-chan *Result {
	t.Helper()
	c := make(chan *Result, 1)
	ctx := context.WithoutCancel(t.Context())
	go func() {
		res, err := im.Session(session).Evaluate(ctx, Request{Code: code, Timeout: callLimit, Debug: 1})
		if err != nil {
			t.Errorf("Evaluate(%q): %v", code, err)
		}
		c <- res
	}()
	return c
}

// Stop ends what all sessions evaluate; code that cannot be stopped costs a launched image.
func TestStop(t *testing.T) {
	t.Parallel()
	im := testImage(t)
	if ended, err := im.Stop(t.Context()); len(ended) != 0 || err != nil {
		t.Errorf("without an image: %v, %v", ended, err)
	}
	g1, g2, g3 := await.NewGate(t), await.NewGate(t), await.NewGate(t)
	mustEval(t, im, fmt.Sprintf("(progn (defun begun-1 () %s) (defun begun-2 () %s) (defun begun-3 () %s))", g1.Sign(), g2.Sign(), g3.Sign()))
	one, two := evaluating(t, im, "one", "(progn (begun-1) (loop))"), evaluating(t, im, "two", "(unwind-protect (progn (begun-2) (sleep 100)) (sleep 100))")
	g1.Reached()
	g2.Reached()
	ended, err := im.Stop(t.Context())
	if len(ended) != 2 || err != nil {
		t.Errorf("stopped %v, %v", ended, err)
	}
	for _, c := range []<-chan *Result{one, two} {
		if f := (<-c).Failure; f == nil || f.Kind != KindStopped {
			t.Errorf("the failure is %+v", f)
		}
	}
	const loops = "(sb-sys:without-interrupts (begun-3) (loop))"
	stubborn := evaluating(t, im, "one", loops)
	g3.Reached()
	if ended, err := im.Stop(t.Context()); len(ended) != 1 || err != nil || ended[0].Session != "one" || ended[0].Code != loops {
		t.Errorf("stopped %v, %v", ended, err)
	}
	switch f := (<-stubborn).Failure; {
	case f == nil || f.Kind != KindStopped:
		t.Errorf("the failure is %+v", f)
	case f.Type == typeNotStopped && strings.Contains(f.Message, "hardly runs"): // so busy is the machine
	case !strings.Contains(f.Message, "The Lisp image was ended"):
		t.Errorf("the failure is %+v", f)
	}
	if got := mustEval(t, im, "(+ 1 2)"); got != "3" {
		t.Errorf("afterwards (+ 1 2) is %s", got)
	}
}

// A pause holds before there is an image, for sessions that come later, and across a
// replaced image. What it makes wait has its whole time when it goes on, and can be
// cancelled; what the bridge does for itself does not wait.
func TestPause(t *testing.T) {
	tier.More(t)
	t.Parallel()
	im := testImage(t)
	if err := im.Pause(t.Context()); err != nil || !im.Paused() {
		t.Fatalf("Pause: %v, Paused() = %v", err, im.Paused())
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := im.Session("default").Evaluate(ctx, Request{Code: "1", Timeout: 100 * time.Millisecond, Debug: 1}); err != context.DeadlineExceeded {
		t.Errorf("a call that is paused and cancelled ends with %v", err)
	}
	const limit = 5 * time.Second // what runs for 0.6 s does so within it, on a busy machine, too
	told := make(chan string, 10)
	done := make(chan *Result)
	go func() {
		res, err := im.Session("default").Evaluate(t.Context(), Request{Code: "(progn (sleep 0.6) (+ 1 2))", Timeout: limit, Debug: 1,
			Progress: func(_ time.Duration, output string) { told <- output }})
		if err != nil {
			t.Error(err)
		}
		done <- res
	}()
	if text := <-told; text != PausedText {
		t.Errorf("it is told %q", text)
	}
	st, err := im.Session("default").Status(t.Context())
	if err != nil || !st.Paused || st.Running != nil || st.Waiting != 1 || st.State != "not started" {
		t.Errorf("the status is %+v, %v", st, err)
	}
	time.Sleep(limit)
	if err := im.Resume(t.Context()); err != nil || im.Paused() {
		t.Fatalf("Resume: %v", err)
	}
	if res := <-done; res.Failure != nil || res.Values[0].Head != "3" {
		t.Errorf("it answers %+v", res)
	}

	g := await.NewGate(t)
	running := evaluating(t, im, "default", g.Wait())
	g.Reached()
	im.Pause(t.Context())
	waits := evaluating(t, im, "later", "(+ 2 2)")
	g.Open()
	if res := <-running; res.Failure != nil {
		t.Errorf("what ran ends with %+v", res.Failure)
	}
	im.kill(t)
	if err := im.Session("default").broughtBack(t.Context()); err != nil {
		t.Errorf("bringing the session back ends with %v", err)
	}
	select {
	case res := <-waits:
		t.Errorf("it did not wait: %+v", res)
	case <-time.After(500 * time.Millisecond):
	}
	im.Resume(t.Context())
	if res := <-waits; res.Failure != nil || res.Values[0].Head != "4" {
		t.Errorf("it answers %+v", res)
	}
	im.Pause(t.Context())
	ended := make(chan error)
	go func() {
		_, err := im.Session("default").Evaluate(t.Context(), Request{Code: "1", Timeout: time.Second, Debug: 1})
		ended <- err
	}()
	time.Sleep(100 * time.Millisecond)
	bounded, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	im.Close(bounded)
	if err := <-ended; err != ErrClosed {
		t.Errorf("when the image is closed it ends with %v", err)
	}
}

// kill ends the process of the image, as an accident would, and waits until that is known.
func (im *Image) kill(t *testing.T) {
	t.Helper()
	im.mu.Lock()
	inst := im.cur
	im.mu.Unlock()
	inst.proc.Kill()
	for !inst.over() {
		time.Sleep(time.Millisecond)
	}
}

// UndoEntry is the helper's function for a person without a REPL.
func TestUndoEntry(t *testing.T) {
	t.Parallel()
	im := testImage(t)
	if _, err := im.UndoEntry(t.Context(), 1); err != ErrNoImage {
		t.Errorf("without an image: %v", err)
	}
	mustEval(t, im, "(defun f () 1)")
	mustEval(t, im, "(defun f () 2)")
	text, err := im.UndoEntry(t.Context(), 2)
	if err != nil || text != "; Put back: function F\n" {
		t.Errorf("it says %q, %v", text, err)
	}
	if got := mustEval(t, im, "(f)"); got != "1" {
		t.Errorf("(f) is %s", got)
	}
	if text, err := im.UndoEntry(t.Context(), 99); err != nil || !strings.HasPrefix(text, "; There is no entry 99") {
		t.Errorf("it says %q, %v", text, err)
	}
}

// The result of an evaluation has what it has redefined, with the sources before and after;
// PutBack takes it back, but not in an image that was taken back to before.
func TestRedefined(t *testing.T) {
	t.Parallel()
	im := testImage(t)
	s := im.Session("default")
	eval := func(code string) *Result {
		t.Helper()
		res, err := s.Evaluate(t.Context(), Request{Code: code, Timeout: time.Minute, Debug: 1})
		if err != nil || res.Failure != nil {
			t.Fatalf("%s: %v, %v", code, err, res)
		}
		return res
	}
	if r := eval("(defun f () 1) (defvar *v* 1)"); r.Redefined != nil {
		t.Errorf("what is new is redefined: %+v", r.Redefined)
	}
	r := eval("(defun g () 0) (defun f ()\n  2) ; two")
	if r.Redefined == nil || len(r.Redefined.Definitions) != 1 {
		t.Fatalf("redefined is %+v", r.Redefined)
	}
	if d := r.Redefined.Definitions[0]; d.What != "function F" || d.Before != "(defun f () 1)" || d.After != "(defun f ()\n  2)" {
		t.Errorf("redefined is %+v", d)
	}
	long := eval(fmt.Sprintf("(defun f () %q)", strings.Repeat("x", 15_000)))
	if d := long.Redefined.Definitions[0]; d.What != "function F" || d.Before != "" || d.After != "" {
		t.Errorf("of a long one it has %+v", d)
	}
	if text, err := im.PutBack(t.Context(), r.Redefined.Entry, r.Redefined.Token+1); err != nil || !strings.Contains(text, "any more") {
		t.Errorf("of another entry: %q, %v", text, err)
	}
	if text, err := im.PutBack(t.Context(), long.Redefined.Entry, long.Redefined.Token); err != nil || text != "; Put back: function F\n" {
		t.Errorf("it says %q, %v", text, err)
	}
	if got := mustEval(t, im, "(f)"); got != "2" {
		t.Errorf("(f) is %s", got)
	}
}
