package mcpbridge

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"swank-mcp/swank/lisp"
)

func TestSuspendedText(t *testing.T) {
	res := &lisp.Result{
		Failure: &lisp.Failure{Type: "UNBOUND-VARIABLE", Message: "The variable X is unbound.", Frames: []string{"(F 1)"}},
		Stdout:  text("so far"),
		Notes:   []string{"a note"},
		Suspended: &lisp.Suspension{Number: 3, Limit: 10 * time.Minute, Restarts: []lisp.Restart{
			{Name: "USE-VALUE", Text: "Use\na value.", Values: true}, {Text: "nameless"}, {Name: "ABORT", Text: "Abort."}}},
	}
	got, failed := ResultText(res, View{})
	want := `[ERROR] UNBOUND-VARIABLE
The variable X is unbound.

[Backtrace]
0: (F 1)

[Restarts]
0: [USE-VALUE] Use a value. (wants values)
1: nameless
2: [ABORT] Abort.

[stdout]
so far

; a note

; Evaluation 3 is suspended here, for 10 minutes at most. `
	if !failed || !strings.HasPrefix(got, want) {
		t.Errorf("failed %v (-want +got):\n%s", failed, cmp.Diff(want, got))
	}
	res.Suspended = &lisp.Suspension{Number: 3, Step: true}
	res.Failure.Message = "Evaluating call:\n  (F 1)"
	got, failed = ResultText(res, View{})
	if failed || !strings.HasPrefix(got, "[STEP] Evaluating call: (F 1)\n\n[Backtrace]") || strings.Contains(got, "Restarts") {
		t.Errorf("a step, failed %v:\n%s", failed, got)
	}
}

func TestEqualFramesAreFolded(t *testing.T) {
	frames := strings.Fields("a b b c c c d d d d e")
	var p parts
	p.framesFrom(10, frames, "\n")
	if want := "\n10: a\n11: b\n12: b\n13-15: c\n16-19: d\n20: e"; p.String() != want {
		t.Errorf("got %q, want %q", p.String(), want)
	}
}

func TestBacktraceText(t *testing.T) {
	b := &lisp.Backtrace{Number: 2, Type: "ODD", Frames: []string{"(A)", "(B)", "(C)"}, More: 4, Age: time.Minute}
	for _, tt := range []struct {
		first, count int
		want         string
	}{
		{0, 50, "Evaluation 2 has been suspended for 1 min 0 s at ODD:\n0: (A)\n1: (B)\n2: (C)\n; 4 frames more, which were not kept"},
		{1, 1, "Evaluation 2 has been suspended for 1 min 0 s at ODD:\n1: (B)\n; 5 frames more: get-backtrace {\"start\": 2, \"evaluation\": 2}"},
		{9, 1, "Evaluation 2 has been suspended for 1 min 0 s at ODD:\n; No frames from number 9 on."},
	} {
		if diff := cmp.Diff(tt.want, backtraceText(b, tt.first, tt.count)); diff != "" {
			t.Errorf("from %d (-want +got):\n%s", tt.first, diff)
		}
	}
}

func TestDebuggerErrorText(t *testing.T) {
	one := []lisp.Suspended{{Number: 4, Code: "(f\n 0)", Failure: "ODD"}}
	const how = `An evaluation is suspended at its error if evaluate-lisp is called with "on-error": "debug".`
	none := how + "\nNext: describe-last-error {}"
	all := &request{env: taking("evaluate-lisp", "get-backtrace", "describe-last-error")}
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
		got := ErrorText(&tt.err) + "\n\n" + all.nextDebuggee(&tt.err)
		if !strings.HasPrefix(got, "[ERROR] NOT-SUSPENDED\n"+tt.want) {
			t.Errorf("%+v:\n%s\nwant:\n%s", tt.err, got, tt.want)
		}
	}
	occupied := lisp.DebuggerError{Number: 3, Occupied: true, Why: "another call is busy with it"}
	want := "[ERROR] EVALUATION-BUSY\nEvaluation 3 takes no commands at the moment: another call is busy with it.\n\nSend the same call again later.\nMeanwhile: get-backtrace {\"evaluation\": 3}"
	if got := ErrorText(&occupied) + "\n\n" + all.nextDebuggee(&occupied); got != want {
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
		if got := (&request{env: taking(tt.tools...)}).nextDebuggee(&tt.err); got != tt.want {
			t.Errorf("%v: %s", tt.tools, got)
		}
	}
}

// Each tool of the debugger, as a client calls it.
func TestDebuggerTools(t *testing.T) {
	p := serve(t, Options{}).handshake()
	for _, tt := range []struct{ tool, args, want string }{
		{"get-backtrace", `{}`, "Evaluation 1 has been suspended"},
		{"inspect-frame", `{"frame":"0"}`, "Frame 0 of evaluation 1: (F 0)\n\n[Locals]\nX = 0\n\n; restart-frame"},
		{"inspect-frame", `{"frame":2}`, "[ERROR] UNKNOWN-FRAME\nThere is no frame.\n\n; Evaluation 1 is still suspended where it was.\nNext: get-backtrace {\"evaluation\": 1}"},
		{"inspect-frame", `{"frame":0,"evaluation":2}`, "[ERROR] NOT-SUSPENDED\nThere is no evaluation 2."},
		{"evaluate-in-frame", `{"frame":0,"code":"x"}`, "=> the original's value"},
		{"invoke-restart", `{"restart":0}`, "=> the original's value"},
		{"invoke-restart", `{"name":"nosuch","value":7}`, "[ERROR] UNKNOWN-RESTART\n"},
		{"return-from-frame", `{"frame":0,"values":"(values 1 2)"}`, "=> the original's value"},
		{"restart-frame", `{"frame":0}`, "=> the original's value"},
		{"step", `{"mode":"OUT"}`, "=> the original's value"},
		{"abort-evaluation", `{}`, "Evaluation 1 is aborted.\n\n[stdout]\nso far"},
		{"describe-last-error", `{}`, "[ERROR] DIVISION-BY-ZERO\n"},
		{"step", `{"mode":"back"}`, "[ERROR] INVALID-ARGUMENTS\nmode is \"back\"; valid: into, next, out, continue."},
		{"evaluate-in-frame", `{"frame":-1,"code":"x"}`, "[ERROR] INVALID-ARGUMENTS\nframe is -1"},
		{"restart-frame", `{"frame":0,"timeout":0}`, "[ERROR] INVALID-ARGUMENTS\ntimeout is 0"},
	} {
		a := p.call(tt.tool, tt.args)
		if !strings.HasPrefix(a.text(), tt.want) {
			t.Errorf("%s %s answered:\n%s\nwant:\n%s", tt.tool, tt.args, a.text(), tt.want)
		}
		if a.Result.IsError != strings.HasPrefix(tt.want, "[ERROR]") && tt.tool != "describe-last-error" {
			t.Errorf("%s %s: isError %v", tt.tool, tt.args, a.Result.IsError)
		}
	}
}
