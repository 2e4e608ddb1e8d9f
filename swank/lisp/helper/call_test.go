package helper

import (
	"strings"
	"testing"

	"swank-mcp/sexp"
)

// TestLongArguments: a call with a long argument reads as it does without the detour.
func TestLongArguments(t *testing.T) {
	long := strings.Repeat(`a "b" \ λ`+"\n", longText)
	c := NewCall("EVALUATE").Str(long).Key("PACKAGE").Str(`a"b\c`).Str(long[:longText+5]).Num(7)
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
