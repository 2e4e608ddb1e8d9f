package lisp

import (
	"strings"
	"testing"

	"swank-mcp/sexp"
)

// TestLongArguments: a call with a long argument reads as it does without the detour.
func TestLongArguments(t *testing.T) {
	long := strings.Repeat(`a "b" \ λ`+"\n", longText)
	c := newHelperCall("EVALUATE").str(long).key("PACKAGE").str(`a"b\c`).str(long[:longText+5]).num(7)
	want, err := sexp.Marshal(c.String())
	if err != nil {
		t.Fatal(err)
	}
	got, err := sexp.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Error("a long argument is sent otherwise than as a string in a string")
	}
	var call, argument string
	if err := sexp.Unmarshal(got, &call); err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(call, " ")
	if err := sexp.Unmarshal([]byte(rest[:strings.Index(rest, " :|PACKAGE|")]), &argument); err != nil || argument != long {
		t.Errorf("the argument comes back as %d bytes, %v; want %d", len(argument), err, len(long))
	}
}

func TestFirstLine(t *testing.T) {
	for _, c := range []struct {
		code, want string
		n          int
	}{
		{" (a\n  b)  c ", "(a b) c", 7},
		{"(a b) c", "(a b)…", 5},
		{"(a b) c", "(a b) …", 6},
		{"λλλ", "λλ…", 2},
		{"", "", 3},
	} {
		if got := firstLine(c.code, c.n); got != c.want {
			t.Errorf("firstLine(%q, %d) = %q, want %q", c.code, c.n, got, c.want)
		}
	}
}
