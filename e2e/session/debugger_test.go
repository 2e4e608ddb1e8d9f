package session

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"swank-mcp/e2e/harness"
	"swank-mcp/e2e/wire"
	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
	"swank-mcp/swank"
)

// threadCount counts the threads of suspended evaluations: others of ours begin
// when they are first needed.
const threadCount = `(count-if (lambda (thread) (search "swank-mcp evaluation" (sb-thread:thread-name thread))) (sb-thread:list-all-threads))`

// Several suspended evaluations, others beside them and calls in any order: all
// end as they would have ended alone, and no thread is left.
func TestDebuggerBesideEvaluations(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	harness.Want(t, s, "(defun step-by-step (n) (let ((here (* 10 n))) (cerror \"Go on.\" \"stopped ~D\" n) (format t \"at ~D~%\" n) (list n here)))", "=> STEP-BY-STEP")
	before, _ := harness.Eval(t, s, threadCount)
	for range 3 {
		first := 0
		for i := range 8 {
			text := harness.Suspend(t, s, fmt.Sprintf("(step-by-step %d)", i))
			if i == 0 {
				_, rest, _ := strings.Cut(text, "; Evaluation ")
				fmt.Sscan(rest, &first)
			}
		}
		var pending []*wire.Pending
		send := func(tool string, args map[string]any) {
			p := harness.SendTool(t, s, tool, args)
			pending = append(pending, p)
		}
		for _, i := range []int{5, 0, 7, 2, 1, 6, 3, 4} {
			send("inspect-frame", harness.Object{"evaluation": first + i, "frame": 0})
			send("evaluate-lisp", harness.Object{"code": fmt.Sprintf("(progn (sleep 0.005) %d)", 1000+i)})
			send("evaluate-in-frame", harness.Object{"evaluation": first + i, "frame": 0, "code": "n"})
			send("invoke-restart", harness.Object{"evaluation": first + i, "restart": "continue"})
		}
		for at, i := range []int{5, 0, 7, 2, 1, 6, 3, 4} {
			for part, wanted := range []string{harness.Elided, fmt.Sprintf("=> %d", 1000+i), fmt.Sprintf("=> %d", i),
				fmt.Sprintf("[stdout]\nat %d\n\n=> (%d %d)", i, i, 10*i)} {
				harness.WantAnswer(t, pending[4*at+part], wanted)
			}
		}
	}
	if await.Until(func() bool { after, _ := harness.Eval(t, s, threadCount); return after == before }) != nil {
		t.Errorf("threads before: %s, after: %s\n%s", before, textOf(harness.Eval(t, s, threadCount)), harness.Status(t, s))
	}
}

func textOf(s string, _ bool) string { return s }

// A look at the debugger that takes its time is not overtaken by the restart that the
// client sent behind it; and it waits itself for nothing that was sent before it.
func TestDebuggerLookBeforeRestart(t *testing.T) {
	tier.More(t)
	t.Parallel()
	s := harness.Start(t)
	harness.Want(t, s, `(progn (defclass slow () ())
  (defmethod print-object ((slow slow) stream) (sleep 0.5) (write-string "slow one" stream))
  (defun stops (here) (cerror "Go on." "stopped") (list :gone-on (type-of here))))`, "=> STOPS")
	harness.Suspend(t, s, "(stops (make-instance 'slow))")
	gate := await.NewGate(t)
	busy := harness.SendCall(t, s, "(prog1 :busy "+gate.Hold()+")")
	harness.Says(t, harness.Good(t, s, "inspect-frame", harness.Object{"evaluation": 1, "frame": 0}), "slow one") // and does not wait for busy
	gate.Open()
	harness.WantAnswer(t, busy, "=> :BUSY")
	look := harness.SendTool(t, s, "inspect-frame", harness.Object{"evaluation": 1, "frame": 0})
	trace := harness.SendTool(t, s, "get-backtrace", harness.Object{"evaluation": 1})
	last := harness.SendTool(t, s, "describe-last-error", harness.Object{})
	restart := harness.SendTool(t, s, "invoke-restart", harness.Object{"evaluation": 1, "restart": "continue"})
	harness.Says(t, harness.Answer(t, look).Text(), "slow one")
	harness.Says(t, harness.Answer(t, trace).Text(), "STOPS")
	harness.Says(t, harness.Answer(t, last).Text(), "stopped")
	harness.WantAnswer(t, restart, "=> (:GONE-ON SLOW)")
}

// A call that is sent before the reply to the evaluation has come.
func TestDebuggerCallWhileItRuns(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	var pending []*wire.Pending
	for _, c := range []struct {
		tool string
		args map[string]any
	}{
		{"evaluate-lisp", harness.Object{"code": "(progn (sleep 0.2) (broken 1))", "on-error": "debug"}},
		{"evaluate-lisp", harness.Object{"code": "(defun broken (x) (list :repaired x))"}},
		{"invoke-restart", harness.Object{"restart": "continue"}},
		{"evaluate-lisp", harness.Object{"code": "(list *)"}},
	} {
		p := harness.SendTool(t, s, c.tool, c.args)
		pending = append(pending, p)
	}
	for i, wanted := range []string{"[ERROR] UNDEFINED-FUNCTION…", "…=> BROKEN", "…=> (:REPAIRED 1)", "…=> ((:REPAIRED 1))"} {
		harness.WantAnswer(t, pending[i], wanted)
	}
}

// An error of a timer or another thread that strikes the session's thread while
// it is idle is reported; it opens no level of a debugger there.
func TestErrorInTheIdleThread(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	l := harness.Begin(t, s)
	gate := await.NewGate(t)
	over := filepath.Join(t.TempDir(), "over") // made when the error has left the thread's stack
	harness.Want(t, s, fmt.Sprintf(`(let ((me sb-thread:*current-thread*))
  (defvar *striker* (sb-thread:make-thread (lambda ()
    %s
    (sb-thread:interrupt-thread me (lambda () (unwind-protect (error "out of the blue") (close (open %q :direction :output))))))))
  :idle)`, gate.Hold(), over), "=> :IDLE")
	time.Sleep(100 * time.Millisecond) // the thread is idle a moment after its answer
	gate.Open()
	if await.Until(func() bool { _, err := os.Stat(over); return err == nil }) != nil {
		t.Error("the error does not end")
	}
	got := harness.Want(t, s, "swank::*sldb-level*", "…=> 0")
	if !*harness.AttachedFlag {
		harness.Says(t, got, "out of the blue")
	}
	l.GoesOn(t, s)
}

// In a person's image: the same, their own debugger is never opened, and
// nothing is left when the server goes.
func TestDebuggerAttached(t *testing.T) {
	t.Parallel()
	p := harness.NewPerson(t, "(defvar cl-user::*cleaned* nil)")
	debuggers := make(chan *swank.Debug, 10)
	ctx := await.Context(t)
	theirs, err := swank.Dial(ctx, "tcp", p.Address, &swank.Options{FirstID: 2_000_000, Handler: func(d *swank.Debug) { debuggers <- d }})
	harness.Check(t, err)
	defer theirs.Close()
	const mine = `(count-if (lambda (th) (search "swank-mcp" (princ-to-string (sb-thread:thread-name th)))) (sb-thread:list-all-threads))`
	s := harness.Attached(t, p)
	harness.Eval(t, s, "(defun half (x) (if (oddp x) (error \"~D is odd.\" x) (list (/ x 2))))")
	harness.Suspend(t, s, "(half 7)")
	// The person mends it.
	p.Says("(defun half (x) (list :by-hand (/ x 2)))")
	harness.WantReply(t, s, "restart-frame", harness.Object{"frame": 0}, "=> (:BY-HAND 7/2)")
	harness.Suspend(t, s, `(unwind-protect (error "left behind") (setf *cleaned* t))`)
	harness.Suspend(t, s, `(error "left behind, too")`)
	harness.Bad(t, s, "evaluate-in-frame", harness.Object{"evaluation": 2, "frame": 0, "code": `(error "nested")`})
	select {
	case d := <-debuggers:
		t.Errorf("a debugger was opened for the person: %+v", d.Condition)
	default:
	}
	if err := s.Close(await.Ceiling); err != nil {
		t.Error(err)
	}
	if await.Until(func() bool { return p.Says(mine) == "0" }) != nil {
		t.Errorf("threads of ours in the person's Lisp: %s", p.Says(`(mapcar #'sb-thread:thread-name (sb-thread:list-all-threads))`))
	}
	p.Wants("*cleaned*", "T")
	select {
	case d := <-debuggers:
		t.Errorf("a debugger was opened for the person at the end: %+v", d.Condition)
	default:
	}
}

// The next call that an error of the debugger names works.
func TestDebuggerErrorsNameTheNextCall(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	harness.Eval(t, s, "(defun down (x) (list (cerror \"Go on.\" \"down ~A\" x) x))")
	harness.Eval(t, s, "(down 0)") // reported, not suspended
	for _, c := range []struct{ code, tool, args, want string }{
		{"", "restart-frame", `{"frame": 0}`, "\ndown 0\n"},
		{"", "inspect-frame", `{"frame": 0, "evaluation": 77}`, "There has been no error in this session."}, // since the reset
		{"(down 1)", "get-backtrace", `{"evaluation": 77}`, "0: (DOWN 1)"},
		{"(down 1)", "inspect-frame", `{"frame": 7}`, "0: (DOWN 1)"},
		{"(down 1)", "evaluate-in-frame", `{"frame": 7, "code": "1"}`, "0: (DOWN 1)"},
		{"(down 1)", "invoke-restart", `{"restart": "nosuch"}`, "0: (DOWN 1)"},
		{"(down 1)", "invoke-restart", `{"restart": "9"}`, "0: (DOWN 1)"},
		{"(list nosuch-variable)", "invoke-restart", `{"restart": "use-value"}`, "=> (SOME-VALUE)"},
		{"(list nosuch-variable)", "invoke-restart", `{"restart": 1}`, "=> (SOME-VALUE)"},
		{"(list (/ (car (list 1)) 0))", "restart-frame", `{"frame": 0}`, "is suspended here"},
		{"(list (/ (car (list 1)) 0))", "return-from-frame", `{"frame": 0, "values": "1"}`, "is suspended here"},
		{"(defun sum (x) (declare (optimize (debug 3))) (break) (/ (reduce #'+ x) 2)) (sum (list 1 2))", "step", `{"mode": "out"}`, "[STEP] Evaluating call: "},
		{"(error \"no way on\")", "step", `{}`, "[STEP] Evaluating call: "},
	} {
		t.Run(c.tool+" "+c.args, func(t *testing.T) {
			if c.code != "" {
				harness.Suspend(t, s, c.code)
			}
			tool, args := nextCall(t, harness.Bad(t, s, c.tool, fromJSONText(t, c.args)))
			harness.Says(t, harness.Call(t, s, tool, args).Text(), c.want)
			harness.Call(t, s, "reset-session", harness.Object{})
			harness.Eval(t, s, "(defun down (x) (list (cerror \"Go on.\" \"down ~A\" x) x))")
		})
	}
}

// A call that lets an evaluation go on, and is cancelled, ends it.
func TestDebuggerCallCancelled(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	harness.Suspend(t, s, `(unwind-protect (progn (cerror "Go on." "wait") (defvar *goes-on* t) (loop)) (defvar *ended* t))`)
	p := harness.SendTool(t, s, "invoke-restart", harness.Object{"restart": "continue"})
	if await.Until(func() bool {
		return strings.Contains(harness.Good(t, s, "describe-symbol", harness.Object{"name": "*goes-on*"}), "Value: T")
	}) != nil {
		t.Errorf("it does not go on:\n%s", harness.Status(t, s))
	}
	harness.Check(t, p.Cancel("enough"))
	harness.Want(t, s, "*ended*", "=> T")
	harness.Says(t, harness.Bad(t, s, "abort-evaluation", harness.Object{"evaluation": 1}), "Evaluation 1 is not suspended: it was stopped.")
}
