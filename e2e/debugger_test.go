package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"swank-mcp/e2e/wire"
	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
	"swank-mcp/swank"
)

// suspend leaves an evaluation in the debugger and returns its reply.
func suspend(t *testing.T, s *server, code string) string {
	t.Helper()
	r := call(t, s, "evaluate-lisp", object{"code": code, "on-error": "debug"})
	if !r.IsError || !strings.Contains(r.Text(), "\n[Restarts]\n") || !strings.Contains(r.Text(), " is suspended here") {
		t.Fatalf("%s was not suspended (isError %v):\n%s", code, r.IsError, r.Text())
	}
	return r.Text()
}

// threadCount counts the threads of suspended evaluations: others of ours begin
// when they are first needed.
const threadCount = `(count-if (lambda (thread) (search "swank-mcp evaluation" (sb-thread:thread-name thread))) (sb-thread:list-all-threads))`

// Several suspended evaluations, others beside them and calls in any order: all
// end as they would have ended alone, and no thread is left.
func TestDebuggerBesideEvaluations(t *testing.T) {
	t.Parallel()
	s := start(t)
	want(t, s, "(defun step-by-step (n) (let ((here (* 10 n))) (cerror \"Go on.\" \"stopped ~D\" n) (format t \"at ~D~%\" n) (list n here)))", "=> STEP-BY-STEP")
	before, _ := eval(t, s, threadCount)
	for range 3 {
		first := 0
		for i := range 8 {
			text := suspend(t, s, fmt.Sprintf("(step-by-step %d)", i))
			if i == 0 {
				_, rest, _ := strings.Cut(text, "; Evaluation ")
				fmt.Sscan(rest, &first)
			}
		}
		var pending []*wire.Pending
		send := func(tool string, args map[string]any) {
			p := sendTool(t, s, tool, args)
			pending = append(pending, p)
		}
		for _, i := range []int{5, 0, 7, 2, 1, 6, 3, 4} {
			send("inspect-frame", object{"evaluation": first + i, "frame": 0})
			send("evaluate-lisp", object{"code": fmt.Sprintf("(progn (sleep 0.005) %d)", 1000+i)})
			send("evaluate-in-frame", object{"evaluation": first + i, "frame": 0, "code": "n"})
			send("invoke-restart", object{"evaluation": first + i, "restart": "continue"})
		}
		for at, i := range []int{5, 0, 7, 2, 1, 6, 3, 4} {
			for part, wanted := range []string{elided, fmt.Sprintf("=> %d", 1000+i), fmt.Sprintf("=> %d", i),
				fmt.Sprintf("[stdout]\nat %d\n\n=> (%d %d)", i, i, 10*i)} {
				wantAnswer(t, pending[4*at+part], wanted)
			}
		}
	}
	if await.Until(func() bool { after, _ := eval(t, s, threadCount); return after == before }) != nil {
		t.Errorf("threads before: %s, after: %s\n%s", before, textOf(eval(t, s, threadCount)), status(t, s))
	}
}

func textOf(s string, _ bool) string { return s }

// A look at the debugger that takes its time is not overtaken by the restart that the
// client sent behind it; and it waits itself for nothing that was sent before it.
func TestDebuggerLookBeforeRestart(t *testing.T) {
	tier.More(t)
	t.Parallel()
	s := start(t)
	want(t, s, `(progn (defclass slow () ())
  (defmethod print-object ((slow slow) stream) (sleep 0.5) (write-string "slow one" stream))
  (defun stops (here) (cerror "Go on." "stopped") (list :gone-on (type-of here))))`, "=> STOPS")
	suspend(t, s, "(stops (make-instance 'slow))")
	gate := await.NewGate(t)
	busy := sendCall(t, s, "(prog1 :busy "+gate.Hold()+")")
	says(t, good(t, s, "inspect-frame", object{"evaluation": 1, "frame": 0}), "slow one") // and does not wait for busy
	gate.Open()
	wantAnswer(t, busy, "=> :BUSY")
	look := sendTool(t, s, "inspect-frame", object{"evaluation": 1, "frame": 0})
	trace := sendTool(t, s, "get-backtrace", object{"evaluation": 1})
	last := sendTool(t, s, "describe-last-error", object{})
	restart := sendTool(t, s, "invoke-restart", object{"evaluation": 1, "restart": "continue"})
	says(t, answer(t, look).Text(), "slow one")
	says(t, answer(t, trace).Text(), "STOPS")
	says(t, answer(t, last).Text(), "stopped")
	wantAnswer(t, restart, "=> (:GONE-ON SLOW)")
}

// A call that is sent before the reply to the evaluation has come.
func TestDebuggerCallWhileItRuns(t *testing.T) {
	t.Parallel()
	s := start(t)
	var pending []*wire.Pending
	for _, c := range []struct {
		tool string
		args map[string]any
	}{
		{"evaluate-lisp", object{"code": "(progn (sleep 0.2) (broken 1))", "on-error": "debug"}},
		{"evaluate-lisp", object{"code": "(defun broken (x) (list :repaired x))"}},
		{"invoke-restart", object{"restart": "continue"}},
		{"evaluate-lisp", object{"code": "(list *)"}},
	} {
		p := sendTool(t, s, c.tool, c.args)
		pending = append(pending, p)
	}
	for i, wanted := range []string{"[ERROR] UNDEFINED-FUNCTION…", "…=> BROKEN", "…=> (:REPAIRED 1)", "…=> ((:REPAIRED 1))"} {
		wantAnswer(t, pending[i], wanted)
	}
}

// An error of a timer or another thread that strikes the session's thread while
// it is idle is reported; it opens no level of a debugger there.
func TestErrorInTheIdleThread(t *testing.T) {
	t.Parallel()
	s := start(t)
	l := begin(t, s)
	gate := await.NewGate(t)
	over := filepath.Join(t.TempDir(), "over") // made when the error has left the thread's stack
	want(t, s, fmt.Sprintf(`(let ((me sb-thread:*current-thread*))
  (defvar *striker* (sb-thread:make-thread (lambda ()
    %s
    (sb-thread:interrupt-thread me (lambda () (unwind-protect (error "out of the blue") (close (open %q :direction :output))))))))
  :idle)`, gate.Hold(), over), "=> :IDLE")
	time.Sleep(100 * time.Millisecond) // the thread is idle a moment after its answer
	gate.Open()
	if await.Until(func() bool { _, err := os.Stat(over); return err == nil }) != nil {
		t.Error("the error does not end")
	}
	got := want(t, s, "swank::*sldb-level*", "…=> 0")
	if !*attachedFlag {
		says(t, got, "out of the blue")
	}
	l.goesOn(t, s)
}

// In a person's image: the same, their own debugger is never opened, and
// nothing is left when the server goes.
func TestDebuggerAttached(t *testing.T) {
	t.Parallel()
	p := newPerson(t, "(defvar cl-user::*cleaned* nil)")
	debuggers := make(chan *swank.Debug, 10)
	ctx := await.Context(t)
	theirs, err := swank.Dial(ctx, "tcp", p.address, &swank.Options{FirstID: 2_000_000, Handler: func(d *swank.Debug) { debuggers <- d }})
	check(t, err)
	defer theirs.Close()
	const mine = `(count-if (lambda (th) (search "swank-mcp" (princ-to-string (sb-thread:thread-name th)))) (sb-thread:list-all-threads))`
	s := attached(t, p)
	eval(t, s, "(defun half (x) (if (oddp x) (error \"~D is odd.\" x) (list (/ x 2))))")
	suspend(t, s, "(half 7)")
	// The person mends it.
	p.says("(defun half (x) (list :by-hand (/ x 2)))")
	wantReply(t, s, "restart-frame", object{"frame": 0}, "=> (:BY-HAND 7/2)")
	suspend(t, s, `(unwind-protect (error "left behind") (setf *cleaned* t))`)
	suspend(t, s, `(error "left behind, too")`)
	bad(t, s, "evaluate-in-frame", object{"evaluation": 2, "frame": 0, "code": `(error "nested")`})
	select {
	case d := <-debuggers:
		t.Errorf("a debugger was opened for the person: %+v", d.Condition)
	default:
	}
	if err := s.Close(await.Ceiling); err != nil {
		t.Error(err)
	}
	if await.Until(func() bool { return p.says(mine) == "0" }) != nil {
		t.Errorf("threads of ours in the person's Lisp: %s", p.says(`(mapcar #'sb-thread:thread-name (sb-thread:list-all-threads))`))
	}
	p.wants("*cleaned*", "T")
	select {
	case d := <-debuggers:
		t.Errorf("a debugger was opened for the person at the end: %+v", d.Condition)
	default:
	}
}

// The next call that an error of the debugger names works.
func TestDebuggerErrorsNameTheNextCall(t *testing.T) {
	t.Parallel()
	s := start(t)
	eval(t, s, "(defun down (x) (list (cerror \"Go on.\" \"down ~A\" x) x))")
	eval(t, s, "(down 0)") // reported, not suspended
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
				suspend(t, s, c.code)
			}
			tool, args := nextCall(t, bad(t, s, c.tool, fromJSONText(t, c.args)))
			says(t, call(t, s, tool, args).Text(), c.want)
			call(t, s, "reset-session", object{})
			eval(t, s, "(defun down (x) (list (cerror \"Go on.\" \"down ~A\" x) x))")
		})
	}
}

// A call that lets an evaluation go on, and is cancelled, ends it.
func TestDebuggerCallCancelled(t *testing.T) {
	t.Parallel()
	s := start(t)
	suspend(t, s, `(unwind-protect (progn (cerror "Go on." "wait") (defvar *goes-on* t) (loop)) (defvar *ended* t))`)
	p := sendTool(t, s, "invoke-restart", object{"restart": "continue"})
	if await.Until(func() bool {
		return strings.Contains(good(t, s, "describe-symbol", object{"name": "*goes-on*"}), "Value: T")
	}) != nil {
		t.Errorf("it does not go on:\n%s", status(t, s))
	}
	check(t, p.Cancel("enough"))
	want(t, s, "*ended*", "=> T")
	says(t, bad(t, s, "abort-evaluation", object{"evaluation": 1}), "Evaluation 1 is not suspended: it was stopped.")
}
