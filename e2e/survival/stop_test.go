package survival

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"swank-mcp/e2e/harness"
	"swank-mcp/e2e/wire"
	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

// TestRandomStops stops evaluations at random moments around their natural end, by their time
// limit or by the client. Every call that was not cancelled must be answered, with its own value
// or as timed out, and none twice.
func TestRandomStops(t *testing.T) {
	tier.More(t)
	t.Parallel()
	s := harness.Start(t)
	l := harness.Begin(t, s)
	rnd := rand.New(rand.NewPCG(tier.Seed(t), 2))
	work := []string{
		"(progn (sleep 0.00%d) %d)",
		"(progn (dotimes (i %d00000) (setf *random-state* *random-state*)) %d)",
		"(unwind-protect (progn (sleep 0.00%d) %d) (list 1 2 3))",
		"(let ((l (loop repeat %d0000 collect (make-string 3)))) (length l) %d)",
		"(progn (ignore-errors (sleep 0.00%d) (error \"x\")) %d)",
		"(progn (dotimes (i %d0) (format t \"~a \" (compile nil '(lambda (x) x)))) %d)",
	}
	var values, timeouts, cancels int
	// Limits are as long as the work on this machine at this moment: half of the evaluations
	// end before theirs.
	most := 7.0
	longer := func() { timeouts++; most = min(2000, most*1.03) }
	shorter := func() { values++; most = max(2, most*0.97) }
	tries := tier.Tries(t, 250, 1000)
	for i := range tries {
		code := fmt.Sprintf(work[rnd.IntN(len(work))], 1+rnd.IntN(5), i)
		cancel := rnd.IntN(4) == 0
		args := harness.Object{"code": code, "timeout_ms": 1 + rnd.IntN(int(most))}
		if cancel {
			args["timeout_ms"] = 5000
		}
		p := harness.SendTool(t, s, "evaluate-lisp", args)
		if cancel {
			time.Sleep(time.Duration(rnd.IntN(6000)) * time.Microsecond)
			harness.Check(t, p.Cancel("random"))
			cancels++
			continue
		}
		ctx, stop := await.Limited(t.Context())
		var r wire.Result
		err := p.Wait(ctx, &r)
		stop()
		switch text := r.Text(); {
		case err != nil:
			t.Fatalf("evaluation %d, %s with %v: %v", i, code, args, err)
		case !r.IsError && strings.HasSuffix(text, fmt.Sprintf("=> %d", i)):
			shorter()
		case r.IsError && strings.HasPrefix(text, "[TIMEOUT] "):
			longer()
		case r.IsError && strings.HasPrefix(text, "[ERROR] SESSION-BUSY\n"): // a cancelled one before it was still being stopped
			longer()
		default:
			t.Fatalf("evaluation %d, %s with %v answered (isError %v):\n%s", i, code, args, r.IsError, harness.Clip(text))
		}
	}
	t.Logf("%d ended by themselves, %d timed out, %d cancelled", values, timeouts, cancels)
	if values < tries/20 || timeouts < tries/20 {
		t.Errorf("%d values and %d timeouts: the stops did not fall around the ends", values, timeouts)
	}
	l.GoesOn(t, s)
}

// Stopping must not pile up threads in the image.
func TestStopsLeaveNoThreads(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	l := harness.Begin(t, s)
	const threads = "(length (sb-thread:list-all-threads))"
	before, _ := harness.Eval(t, s, threads)
	for range 30 {
		harness.WantReply(t, s, "evaluate-lisp", harness.Object{"code": "(loop)", "timeout_ms": 5}, "[TIMEOUT] …")
	}
	l.GoesOn(t, s)
	harness.Want(t, s, threads, before)
}
