package lisp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

func suspendIt(t *testing.T, im *Image, code string) *Result {
	t.Helper()
	res, err := im.Session("default").Evaluate(t.Context(), Request{Code: code, Timeout: time.Minute, Debug: 1, Suspend: true})
	if err != nil || res.Suspended == nil {
		t.Fatalf("%s: %+v, %v, want it suspended", code, res, err)
	}
	return res
}

func TestSuspendedNumbers(t *testing.T) {
	t.Parallel()
	var q suspensions
	if _, err := q.pick(0); err == nil {
		t.Error("picked one of none")
	}
	e := func(token int64) *evaluation {
		return &evaluation{job: new(job), token: token, r: Request{Code: "(f)"}}
	}
	one, two := q.add(e(10), "A"), q.add(e(11), "B")
	if one.number != 1 || two.number != 2 {
		t.Errorf("numbers %d and %d", one.number, two.number)
	}
	if q.find(11) != two || q.find(12) != nil {
		t.Error("not found by token")
	}
	again := e(10)
	again.target = one
	if q.add(again, "C") != one || one.failure != "C" {
		t.Error("an evaluation that is suspended again has another number")
	}
	if q.end(10, "over") != one || q.end(10, "over") != nil {
		t.Error("ended twice, or never")
	}
	var bad *DebuggerError
	if _, err := q.pick(7); !errors.As(err, &bad) || bad.Why != "" || len(bad.Suspended) != 1 {
		t.Errorf("pick(7) = %v", err)
	}
	if _, err := q.pick(1); !errors.As(err, &bad) || bad.Why != "over" {
		t.Errorf("pick(1) = %v", err)
	}
	for i := range int64(keptGone + 10) {
		q.add(e(100+i), "D")
		q.end(100+i, "gone")
	}
	if len(q.gone) > keptGone {
		t.Errorf("%d ends are remembered", len(q.gone))
	}
	q.clear("cleared")
	if len(q.all()) != 0 {
		t.Error("some are left")
	}
}

// A caller who has gone when the evaluation is suspended leaves none behind.
func TestSuspendedForNobody(t *testing.T) {
	t.Parallel()
	im := testImage(t)
	mustEval(t, im, "(defvar *cleaned* 0)")
	for i := range 10 {
		ctx, cancel := context.WithCancel(t.Context())
		code := `(unwind-protect (progn (sleep 0.005) (error "x")) (incf *cleaned*))`
		time.AfterFunc(time.Duration(i)*time.Millisecond, cancel)
		res, err := im.Session("default").Evaluate(ctx, Request{Code: code, Timeout: time.Minute, Debug: 1, Suspend: true})
		cancel()
		if err == nil { // it came in time
			if _, err := im.Session("default").Debug(t.Context(), DebuggerCall{Op: AbortIt, Number: res.Suspended.Number}, Request{Timeout: time.Minute, Debug: 1}); err != nil {
				t.Error(err)
			}
		}
	}
	var st *Status
	if await.Until(func() bool {
		var err error
		if st, err = im.Session("default").Status(t.Context()); err != nil {
			t.Fatal(err)
		}
		return !strings.Contains(threadNames(st), "swank-mcp evaluation") && len(st.Suspended) == 0
	}) != nil {
		t.Errorf("left: %+v, threads %s", st.Suspended, threadNames(st))
	}
}

func threadNames(st *Status) string {
	var names []string
	for _, th := range st.Threads {
		names = append(names, th.Name)
	}
	return strings.Join(names, ", ")
}

// What is looked at while it runs says so.
func TestSuspendedIsBusy(t *testing.T) {
	t.Parallel()
	im := testImage(t)
	g := await.NewGate(t)
	res := suspendIt(t, im, fmt.Sprintf(`(progn (cerror "Go on." "x") %s :done)`, g.Wait()))
	number := res.Suspended.Number
	done := make(chan *Result, 1)
	go func() {
		res, err := im.Session("default").Debug(context.Background(), DebuggerCall{Op: InvokeRestart, Number: number, Restart: "continue"}, Request{Timeout: time.Minute, Debug: 1})
		if err != nil {
			t.Error(err)
		}
		done <- res
	}()
	var bad *DebuggerError
	for {
		_, err := im.Session("default").InspectFrame(t.Context(), number, 0, false)
		if !errors.As(err, &bad) {
			continue // not yet
		}
		if strings.Contains(bad.Why, "running") {
			break
		}
		if !strings.Contains(bad.Why, "busy") { // choosing the restart
			t.Fatalf("a frame of what runs: %v", bad)
		}
	}
	st, err := im.Session("default").Status(t.Context())
	if err != nil || st.Running == nil || len(st.Suspended) != 0 {
		t.Errorf("Status = %+v, %v", st, err)
	}
	g.Open()
	if res := <-done; res == nil || len(res.Values) != 1 || res.Values[0].Head != ":DONE" {
		t.Errorf("got %+v", res)
	}
}

// Waiting in the debugger is not paid for.
func TestSuspendedTimeIsNotCounted(t *testing.T) {
	tier.More(t)
	t.Parallel()
	im := testImage(t)
	const suspended = 5 * time.Second
	began := time.Now()
	suspendIt(t, im, `(progn (cerror "Go on." "x") :done)`)
	time.Sleep(suspended)
	res, err := im.Session("default").Debug(t.Context(), DebuggerCall{Op: InvokeRestart, Restart: "continue"}, Request{Timeout: time.Minute, Debug: 1})
	if err != nil || res.Failure != nil {
		t.Fatalf("%+v, %v", res, err)
	}
	if whole := time.Since(began); res.Timing.Real > whole-suspended {
		t.Errorf("%v of real time, of %v in all, %v of which it was suspended", res.Timing.Real, whole, suspended)
	}
}
