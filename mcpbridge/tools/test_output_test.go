package tools

import (
	"fmt"
	"strings"
	"testing"

	"swank-mcp/mcpbridge/spool"
	"swank-mcp/swank/lisp"
)

// TestTestOutput: long runs of one character are folded, and where the outcome of tests is not
// known the end of what they have printed is shown.
func TestTestOutput(t *testing.T) {
	var lines strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&lines, "line %d\n", i)
	}
	for _, tt := range []struct {
		name, printed string
		tests         lisp.Tests
		want, not     string
	}{
		{"dots", strings.Repeat(".", 40000) + "\ndone", lisp.Tests{}, "..........… (39,990 more of these)\ndone", "..........."},
		{"of a framework", "é" + strings.Repeat("é", 200), lisp.Tests{Passed: 1}, "éééééééééé… (191 more of these)", "ééééééééééé"},
		{"a rule", strings.Repeat("-", 80), lisp.Tests{}, strings.Repeat("-", 80), "more"},
		{"long", lines.String(), lisp.Tests{}, "line 998\nline 999\n", "line 1\n"},
		{"long, of a framework", lines.String(), lisp.Tests{Passed: 1}, "line 1\n", "left out"},
		{"nothing to run", lines.String(), lisp.Tests{Untested: "no"}, "line 1\n", "left out"},
	} {
		var s spool.Spool
		res := &lisp.Result{Stdout: lisp.Text{Head: tt.printed}}
		boundTestOutput(&tt.tests, res, &s)
		if got := res.Stdout.Head; !strings.Contains(got, tt.want) || strings.Contains(got, tt.not) {
			t.Errorf("%s: %.300q", tt.name, got)
		}
	}
	var s spool.Spool
	res := &lisp.Result{Stdout: lisp.Text{Head: lines.String()}}
	boundTestOutput(&lisp.Tests{}, res, &s)
	head, tail, _ := strings.Cut(res.Stdout.Head, "\n")
	if !strings.HasPrefix(head, "; … ") || !strings.HasSuffix(head, ` characters before this are left out; to read them: read-output {"handle": "out-1"} …`) || !strings.HasPrefix(tail, "line ") {
		t.Errorf("%q, then %.30q", head, tail)
	}
	if whole, err := s.Get("out-1"); err != nil || whole.Chars != len(lines.String()) {
		t.Errorf("out-1: %+v, %v", whole, err)
	}
}
