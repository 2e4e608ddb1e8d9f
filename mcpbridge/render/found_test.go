package render

import (
	"testing"

	"swank-mcp/swank/lisp"
)

func TestFindingText(t *testing.T) {
	f := &lisp.Finding{Title: "T", Sections: []lisp.Section{{Name: "Function", Lines: []string{"(F X)", "a\x1bb"}}, {Lines: []string{"- bare"}}}, Notes: []string{"one", "two"}}
	if got, want := Found(f, "nothing"), "T\n\n[Function]\n(F X)\na\\u{1B}b\n\n- bare\n\n; one\n; two"; got != want {
		t.Errorf("foundText = %q, want %q", got, want)
	}
	if got := Found(&lisp.Finding{Title: "T"}, "nothing"); got != "T\n\nnothing" {
		t.Errorf("nothing found: %q", got)
	}
}
