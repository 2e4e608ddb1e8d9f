package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"swank-mcp/e2e/wire"
)

const stoppedHead = "[STOPPED] Evaluation stopped by the person"

// A person stops what the agent evaluates, and the agent reads that it was the person.
func TestPersonStops(t *testing.T) {
	t.Parallel()
	p := newPerson(t, "")
	s := attached(t, p)
	want(t, s, "(+ 1 2)", "=> 3")
	p.wants("(swank-mcp:stop)", "NIL")
	for _, code := range []string{
		"(loop)",
		"(sleep 100)",
		"(unwind-protect (sleep 100) (sleep 0.1))",
		`(loop (compile nil '(lambda (x) (list x))))`,
		`(dotimes (i 100000000) (print i))`,
	} {
		call := running(t, s, code)
		began := time.Now()
		p.wants("(length (swank-mcp:stop))", "1")
		wantAnswer(t, call, stoppedHead+"…")
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("%s was stopped after %v", code, took)
		}
		want(t, s, "(+ 1 2)", "=> 3")
	}
	// Cleanup forms that hang are broken off, by the bridge.
	call := running(t, s, "(unwind-protect (sleep 100) (sleep 200))")
	p.wants("(length (swank-mcp:stop))", "1")
	wantAnswer(t, call, stoppedHead+"…")
	// Code that has interrupts off is left alone, in an image that is not ours.
	call = running(t, s, "(sb-sys:without-interrupts (loop repeat 200 do (sleep 0.05)))")
	p.wants("(length (swank-mcp:stop))", "1")
	wantAnswer(t, call, stoppedHead+"\nThe evaluation could not be stopped: …")
	want(t, s, "(+ 1 2)", "=> 3")
}

// A person stops one evaluation by its number: a job, and one that is suspended. The agent's
// own code cannot.
func TestPersonStopsOne(t *testing.T) {
	t.Parallel()
	p := newPerson(t, "")
	s := attached(t, p)
	says(t, good(t, s, "evaluate-lisp", object{"code": "(loop (sleep 0.01))", "background": true}), "job-1")
	wantError(t, s, "(swank-mcp:stop)", "[ERROR] SIMPLE-ERROR\nstop is for the person")
	call(t, s, patience, "evaluate-lisp", object{"code": "(car 'suspended)", "on-error": "debug"})
	running := running(t, s, "(progn :third (sleep 100))")
	number := func(code string) string {
		return p.says(fmt.Sprintf(`(swank-mcp::evaluation-number (find %q swank-mcp::*evaluations* :key #'swank-mcp::evaluation-code :test #'string=))`, code))
	}
	job, suspended := number("(loop (sleep 0.01))"), number("(car 'suspended)")
	p.wants("(swank-mcp:stop "+suspended+")", "("+suspended+")")
	p.wants("(swank-mcp:stop "+job+")", "("+job+")")
	p.wants("(swank-mcp:stop 4711)", "NIL")
	p.wants("(length (swank-mcp:stop))", "1")
	text := answer(t, running).Text()
	says(t, text, stoppedHead, "; The suspended evaluation 2 ((car 'suspended)) has ended: The person stopped it.\n",
		"; job-1 ((loop (sleep 0.01))) was stopped by the person. Next: ")
}

// The time from a person's stop to the agent's reply.
func TestPersonStopsSoon(t *testing.T) {
	p := newPerson(t, "")
	s := attached(t, p)
	var took []time.Duration
	for range 20 {
		call := running(t, s, "(loop)")
		began := time.Now()
		p.says("(swank-mcp:stop)")
		wantAnswer(t, call, stoppedHead+"…")
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	t.Logf("from the person's stop to the reply: p50 %v, p95 %v", took[10], took[18])
	if took[18] > time.Second {
		t.Errorf("p95 is %v", took[18])
	}
}

// A person pauses the agents: calls that begin wait and say for what, look-ups are answered,
// what runs goes on, and a server that comes later waits, too.
func TestPersonPauses(t *testing.T) {
	t.Parallel()
	p := newPerson(t, "")
	s := attached(t, p)
	want(t, s, "(+ 1 2)", "=> 3")
	runs := running(t, s, "(progn (sleep 1) :ran)")
	p.wants("(multiple-value-list (swank-mcp:pause))", "NIL")
	told := make(chan string, 10)
	waits, err := s.GoTool("evaluate-lisp", object{"code": "(progn (sleep 0.5) :waited)", "timeout": 1.5},
		wire.CallOptions{Progress: func(p wire.Progress) { told <- p.Message }})
	check(t, err)
	wantAnswer(t, runs, "=> :RAN")
	if text := <-told; !strings.HasPrefix(text, "paused by the person; (swank-mcp:resume) or") {
		t.Errorf("progress says %q", text)
	}
	status := good(t, s, "session-status", object{})
	says(t, status, "Paused: calls that evaluate wait, paused by the person; (swank-mcp:resume) or `swank-mcp resume` lets it go on\n", "Queue: 1 call waits")
	saysNot(t, status, "Running for")
	says(t, good(t, s, "describe-symbol", object{"symbol": "car"}), "CAR")
	cancelled := sendCall(t, s, ":cancelled")
	check(t, cancelled.Cancel("no more"))
	later := attached(t, p, "--session", "later")
	second := sendCall(t, later, ":second")
	time.Sleep(2 * time.Second) // longer than the limit of the first
	for _, c := range []*wire.Pending{waits, second} {
		ctx, stop := context.WithTimeout(t.Context(), time.Millisecond)
		if err := c.Wait(ctx, nil); ctx.Err() == nil {
			t.Errorf("call %s did not wait: %v", c.ID, err)
		}
		stop()
	}
	p.says("(swank-mcp:resume)")
	wantAnswer(t, waits, "=> :WAITED")
	wantAnswer(t, second, "=> :SECOND")
	want(t, s, "(+ 1 2)", "=> 3")
	wantError(t, s, "(swank-mcp:pause)", "[ERROR] SIMPLE-ERROR\npause is for the person")
}
