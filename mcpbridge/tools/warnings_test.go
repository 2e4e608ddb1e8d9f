package tools

import (
	"fmt"
	"strings"
	"testing"

	"swank-mcp/mcpbridge/render"
	"swank-mcp/mcpbridge/spool"
	"swank-mcp/swank/lisp"
)

// shownWarnings is what a reply shows of ws.
func shownWarnings(ws []lisp.Warning, failed, verbose bool, s *spool.Spool) string {
	res := &lisp.Result{Warnings: ws}
	if failed {
		res.Failure = &lisp.Failure{}
	}
	boundWarnings(res, verbose, s)
	var lines []string
	for _, w := range res.Warnings {
		lines = append(lines, render.Warning(w))
	}
	return strings.Join(lines, "\n")
}

func TestBoundWarnings(t *testing.T) {
	at := func(kind, system string, line int) lisp.Warning {
		return lisp.Warning{Type: kind, Message: "m", File: "/a.lisp", Line: line, Column: 3, Source: "  (f)", System: system}
	}
	ws := func() []lisp.Warning {
		return []lisp.Warning{at("NOTE", "", 1), at("STYLE-WARNING", "shelf", 2), at("WARNING", "box", 3), at("STYLE-WARNING", "", 4), at("SHOP:ODD", "", 5), at("ERROR", "", 6)}
	}
	var s spool.Spool
	const own = "ERROR: m\n  /a.lisp:6:3 | (f)\nSHOP:ODD: m\n  /a.lisp:5:3 | (f)\nSTYLE-WARNING: m\n  /a.lisp:4:3 | (f)\nNOTE: m\n  /a.lisp:1:3 | (f)"
	for _, c := range []struct {
		failed, verbose bool
		want            string
	}{
		{false, false, own + "\n; 2 in other systems: box (1), shelf (1); to read them: read-output {\"handle\": \"out-1\"}"},
		{true, false, own + "\nWARNING: m\n  /a.lisp:3:3 | (f)\n; 1 in other systems: shelf (1); to read them: read-output {\"handle\": \"out-2\"}"},
		{false, true, own + "\nWARNING: m\n  /a.lisp:3:3 | (f)\nSTYLE-WARNING: m\n  /a.lisp:2:3 | (f)"},
	} {
		if got := shownWarnings(ws(), c.failed, c.verbose, &s); got != c.want {
			t.Errorf("failed %v, verbose %v:\n%s\nwant:\n%s", c.failed, c.verbose, got, c.want)
		}
	}

	var many []lisp.Warning
	for i := range 40 {
		many = append(many, at("STYLE-WARNING", "", i+1))
	}
	got := shownWarnings(many, false, false, &s)
	if n := strings.Count(got, "STYLE-WARNING"); n != diagnosticsShown || !strings.HasSuffix(got, "\n; 15 more; to read them: read-output {\"handle\": \"out-3\"}") {
		t.Errorf("%d of 40 are shown:\n%s", n, got)
	}
	rest, err := s.Get("out-3")
	if err != nil || strings.Count(rest.All, "STYLE-WARNING") != 15 || !strings.Contains(rest.All, fmt.Sprintf("/a.lisp:%d:3", 40)) {
		t.Errorf("kept: %q, %v", rest.All, err)
	}
}

// Warnings of evaluated code stay in the order in which they were signalled.
func TestBoundWarningsOfCode(t *testing.T) {
	var s spool.Spool
	ws := []lisp.Warning{{Type: "STYLE-WARNING", Message: "a", Line: 2, Column: 1, Source: "(a)"}, {Type: "WARNING", Message: "b"}}
	if got, want := shownWarnings(ws, false, false, &s), "STYLE-WARNING: a\n  2:1 | (a)\nWARNING: b"; got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}
