package render

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"swank-mcp/swank/lisp"
)

func text(s string) lisp.Text { return lisp.Text{Head: s} }

func values(vs ...string) (out []lisp.Text) {
	for _, v := range vs {
		out = append(out, text(v))
	}
	return out
}

var resultTests = []struct {
	name   string
	result lisp.Result
	view   View
	want   string
}{
	// The examples of the tool's specification.
	{name: "simple value", result: lisp.Result{Values: values("3")}, want: "=> 3"},
	{name: "with stdout",
		result: lisp.Result{Stdout: text("\nHELLO "), Values: values("42")},
		want:   "[stdout]\nHELLO\n\n=> 42"},
	{name: "multiple values", result: lisp.Result{Values: values("3", "2")}, want: "=> 3\n=> 2"},
	{name: "with warnings",
		result: lisp.Result{
			Warnings: []lisp.Warning{{Type: "STYLE-WARNING", Message: "The variable X is defined but never used."}},
			Values:   values("FOO")},
		want: "[warnings]\nSTYLE-WARNING: The variable X is defined but never used.\n\n=> FOO"},
	{name: "division by zero",
		result: lisp.Result{Failure: &lisp.Failure{Type: "DIVISION-BY-ZERO",
			Message: "arithmetic error DIVISION-BY-ZERO signalled\nOperation was (/ 1 0).", Frames: []string{"(/ 1 0)"}}},
		want: "[ERROR] DIVISION-BY-ZERO\narithmetic error DIVISION-BY-ZERO signalled\nOperation was (/ 1 0).\n\n[Backtrace]\n0: (/ 1 0)"},
	{name: "undefined function",
		result: lisp.Result{Failure: &lisp.Failure{Type: "UNDEFINED-FUNCTION",
			Message: "The function COMMON-LISP-USER::FOO is undefined.", Frames: []string{"(FOO 42)"}}},
		want: "[ERROR] UNDEFINED-FUNCTION\nThe function COMMON-LISP-USER::FOO is undefined.\n\n[Backtrace]\n0: (FOO 42)"},
	{name: "type error",
		result: lisp.Result{Failure: &lisp.Failure{Type: "TYPE-ERROR",
			Message: "The value 42 is not of type LIST.", Frames: []string{"(CAR 42)"}}},
		want: "[ERROR] TYPE-ERROR\nThe value 42 is not of type LIST.\n\n[Backtrace]\n0: (CAR 42)"},
	{name: "circular structure", result: lisp.Result{Values: values("#1=(1 2 3 . #1#)")}, want: "=> #1=(1 2 3 . #1#)"},
	{name: "stream capture",
		result: lisp.Result{Stdout: text("Output\n"), Stderr: text("Error\n"), Values: values("42")},
		want:   "[stdout]\nOutput\n\n[stderr]\nError\n\n=> 42"},
	{name: "multiple forms", result: lisp.Result{Values: values("30")}, want: "=> 30"},
	{name: "definition", result: lisp.Result{Values: values("SQUARE")}, want: "=> SQUARE"},

	// The rest of the contract.
	{name: "no values", result: lisp.Result{}, want: "; No values"},
	{name: "no values beside output", result: lisp.Result{Stdout: text("x")}, want: "[stdout]\nx\n\n; No values"},
	{name: "multi-line value", result: lisp.Result{Values: values("(A\n B)", "2")}, want: "=> (A\n B)\n=> 2"},
	{name: "blank output is no section", result: lisp.Result{Stdout: text("\n \n"), Values: values("NIL")}, want: "=> NIL"},
	{name: "leading blanks stay", result: lisp.Result{Stdout: text("\n\n  x\n\n  y\n\n"), Values: values("NIL")}, want: "[stdout]\n  x\n\n  y\n\n=> NIL"},
	{name: "all sections in order",
		result: lisp.Result{Stdout: text("o"), Stderr: text("e"), Background: text("b"),
			Warnings: []lisp.Warning{{Type: "WARNING", Message: "two\n  lines"}, {Type: "APP:ODD", Message: "x"}},
			Values:   values("7"), Notes: []string{"a note", "another\none"},
			Timing: lisp.Timing{Real: 12 * time.Millisecond, Run: 10 * time.Millisecond, Bytes: 1024}},
		view: View{Timing: true},
		want: "[stdout]\no\n\n[stderr]\ne\n\n[warnings]\nWARNING: two lines\nAPP:ODD: x\n\n[background output]\nb\n\n=> 7\n" +
			"; Timing: 12 ms real, 10 ms run, 0 ms GC, 1,024 bytes consed\n; a note\n; another one"},
	{name: "error with sections",
		result: lisp.Result{Failure: &lisp.Failure{Type: "SIMPLE-ERROR", Message: "no\n\n", Frames: []string{"(F\n  1)", "(G)"}, More: 3},
			Stdout: text("o\n"), Stderr: text("e"), Warnings: []lisp.Warning{{Type: "WARNING", Message: "w"}}, Notes: []string{"n"}},
		want: "[ERROR] SIMPLE-ERROR\nno\n\n[Backtrace]\n0: (F 1)\n1: (G)\n; 3 frames more\n\n[stdout]\no\n\n[stderr]\ne\n\n[warnings]\nWARNING: w\n\n; n"},
	{name: "error without anything", result: lisp.Result{Failure: &lisp.Failure{Type: "MY-PKG:ODD"}}, want: "[ERROR] MY-PKG:ODD"},
	{name: "timeout",
		result: lisp.Result{Failure: &lisp.Failure{Kind: lisp.KindTimeout, Frames: []string{"(LOOP-FOREVER)"}}, Stdout: text("so far")},
		view:   View{Timeout: 5 * time.Second},
		want:   "[TIMEOUT] Evaluation exceeded 5 seconds\n\n[Backtrace]\n0: (LOOP-FOREVER)\n\n[stdout]\nso far"},
	{name: "timeout of one second", result: lisp.Result{Failure: &lisp.Failure{Kind: lisp.KindTimeout, Message: "It could not be stopped."}},
		view: View{Timeout: time.Second}, want: "[TIMEOUT] Evaluation exceeded 1 second\nIt could not be stopped."},
	{name: "timeout of half a second", result: lisp.Result{Failure: &lisp.Failure{Kind: lisp.KindTimeout}},
		view: View{Timeout: 500 * time.Millisecond}, want: "[TIMEOUT] Evaluation exceeded 0.5 seconds"},
	{name: "image died", result: lisp.Result{Failure: &lisp.Failure{Kind: lisp.KindImageDied, Message: "exit status 1"}},
		want: "[ERROR] IMAGE-DIED\nexit status 1"},
	{name: "cancelled", result: lisp.Result{Failure: &lisp.Failure{Kind: lisp.KindCancelled}}, want: "[CANCELLED] Evaluation cancelled by the client"},
	{name: "stopped", result: lisp.Result{Failure: &lisp.Failure{Kind: lisp.KindStopped}}, want: "[STOPPED] Evaluation stopped by the person"},
	{name: "characters",
		result: lisp.Result{Stdout: text("\x1b[31mred\x00\x7f\r\n\tλ 😀 a\u0085b \u202eevil\u2066 \xff\xc0"), Values: values("\"\ufffd\"")},
		want:   "[stdout]\n\\u{1B}[31mred\\u{0}\\u{7F}\\u{D}\n\tλ 😀 a\\u{85}b \\u{202E}evil\\u{2066} \ufffd\ufffd\n\n=> \"\ufffd\""},
	{name: "cut in the image",
		result: lisp.Result{Stdout: lisp.Text{Head: "\nbegin", Tail: "end\n", Omitted: 1234567},
			Values: []lisp.Text{{Head: `"aaa`, Tail: `zzz"`, Omitted: 10}}},
		want: "[stdout]\nbegin\n; … 1,234,567 characters left out here: too long to keep. Print less, or write it to a file …\nend\n\n" +
			"=> \"aaa\n; … 10 characters left out here: too long to keep. Print less, or write it to a file …\nzzz\""},
}

func TestResultText(t *testing.T) {
	for _, tt := range resultTests {
		t.Run(tt.name, func(t *testing.T) {
			got, failed := Result(&tt.result, tt.view)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
			if want := tt.result.Failure != nil; failed != want {
				t.Errorf("failed = %v, want %v", failed, want)
			}
		})
	}
}
