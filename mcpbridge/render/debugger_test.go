package render

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
	got, failed := Result(res, View{})
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
	got, failed = Result(res, View{})
	if failed || !strings.HasPrefix(got, "[STEP] Evaluating call: (F 1)\n\n[Backtrace]") || strings.Contains(got, "Restarts") {
		t.Errorf("a step, failed %v:\n%s", failed, got)
	}
}

func TestEqualFramesAreFolded(t *testing.T) {
	frames := strings.Fields("a b b c c c d d d d e")
	var p Parts
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
		if diff := cmp.Diff(tt.want, Backtrace(b, tt.first, tt.count)); diff != "" {
			t.Errorf("from %d (-want +got):\n%s", tt.first, diff)
		}
	}
}
