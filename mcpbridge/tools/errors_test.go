package tools

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"swank-mcp/swank/lisp"
)

func TestDebuggerErrorText(t *testing.T) {
	one := []lisp.Suspended{{Number: 4, Code: "(f\n 0)", Failure: "ODD"}}
	const how = `An evaluation is suspended at its error if evaluate-lisp is called with "on-error": "debug".`
	none := how + "\nNext: describe-last-error {}"
	all := &Request{Env: taking("evaluate-lisp", "get-backtrace", "describe-last-error")}
	for _, tt := range []struct {
		err  lisp.DebuggerError
		want string
	}{
		{lisp.DebuggerError{}, "No evaluation is suspended in the debugger.\n\n" + none},
		{lisp.DebuggerError{Number: 3, Why: "it ended"}, "Evaluation 3 is not suspended: it ended.\nNo evaluation is suspended in the debugger.\n\n" + none},
		{lisp.DebuggerError{Number: 3, Why: "It ended."}, "Evaluation 3 is not suspended: It ended.\nNo evaluation"},
		{lisp.DebuggerError{Number: 9, Suspended: one}, "There is no evaluation 9.\nSuspended:\n4: ODD in (f 0)\n\nNext: get-backtrace {\"evaluation\": 4}"},
		{lisp.DebuggerError{Suspended: append(one, one...)}, "Several evaluations are suspended: say which one is meant.\n"},
	} {
		got := ErrorText(&tt.err) + "\n\n" + all.nextDebuggee(&tt.err, false)
		if !strings.HasPrefix(got, "[ERROR] NOT-SUSPENDED\n"+tt.want) {
			t.Errorf("%+v:\n%s\nwant:\n%s", tt.err, got, tt.want)
		}
	}
	occupied := lisp.DebuggerError{Number: 3, Occupied: true, Why: "another call is busy with it"}
	want := "[ERROR] EVALUATION-BUSY\nEvaluation 3 takes no commands at the moment: another call is busy with it.\n\nSend the same call again later.\nMeanwhile: get-backtrace {\"evaluation\": 3}"
	if got := ErrorText(&occupied) + "\n\n" + all.nextDebuggee(&occupied, false); got != want {
		t.Errorf("occupied:\n%s\nwant:\n%s", got, want)
	}
	// Only what is there is named.
	for _, tt := range []struct {
		tools []string
		err   lisp.DebuggerError
		want  string
	}{
		{[]string{"evaluate-lisp", "inspect-frame"}, lisp.DebuggerError{}, how},
		{[]string{"inspect-frame", "describe-last-error"}, lisp.DebuggerError{}, "Next: describe-last-error {}"},
		{[]string{"inspect-frame"}, lisp.DebuggerError{Suspended: one}, ""},
	} {
		if got := (&Request{Env: taking(tt.tools...)}).nextDebuggee(&tt.err, false); got != tt.want {
			t.Errorf("%v: %s", tt.tools, got)
		}
	}
}

func TestErrorText(t *testing.T) {
	late := ErrorText(&lisp.BusyError{Waited: time.Second, Code: "(loop)", Age: 152 * time.Second, Limit: 2 * time.Second})
	if !strings.Contains(late, "It was to be stopped 2 s after its start, and has not stopped yet.") {
		t.Errorf("one that is over its time:\n%s", late)
	}
	busy := ErrorText(&lisp.BusyError{Waited: 2 * time.Second, Code: "(loop)", Age: 70 * time.Second, Limit: 10 * time.Minute, Ahead: 2})
	for _, want := range []string{"[ERROR] SESSION-BUSY\n", "nothing of this call was evaluated", "It waited 2 s", "Running for 1 min 10 s: (loop)",
		"stopped 10 min 0 s after its start", "2 calls wait before", "session-status"} {
		if !strings.Contains(busy, want) {
			t.Errorf("busy text lacks %q:\n%s", want, busy)
		}
	}
	slow := ErrorText(fmt.Errorf("x: %w", &lisp.UnansweredError{Kind: lisp.KindTimeout, Why: "The image did not answer."}))
	if !strings.HasPrefix(slow, "[ERROR] TIMEOUT\nThe image did not answer.\n\nSend the call again") {
		t.Errorf("unanswered: %q", slow)
	}
	large := ErrorText(fmt.Errorf("%w: frame of …", lisp.ErrTooLarge))
	if !strings.HasPrefix(large, "[ERROR] TOO-LARGE\nThe code is too large") || !strings.Contains(large, "(load ") {
		t.Errorf("too large: %q", large)
	}
	start := ErrorText(&lisp.StartError{Problem: "sbcl is not on PATH", Advice: "apt-get install sbcl"})
	if want := "[ERROR] NO-IMAGE\nsbcl is not on PATH\n\napt-get install sbcl"; start != want {
		t.Errorf("start text = %q, want %q", start, want)
	}
}
