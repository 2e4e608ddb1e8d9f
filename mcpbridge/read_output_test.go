package mcpbridge

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestReadOutput follows a cut reply, with the calls that the replies give,
// until all of it has been read.
func TestReadOutput(t *testing.T) {
	p := serve(t, Options{MaxOutput: 4000}).handshake()
	a := p.call("evaluate-lisp", `{"code":"repeat 2000"}`) // 22,000 characters and "=> "
	all := "=> " + strings.Repeat("0123456789\n", 2000)
	if n := utf8.RuneCountInString(a.text()); n > 4000 {
		t.Fatalf("reply of %d characters", n)
	}
	// The line between head and tail names the first character left out.
	head, _, _ := strings.Cut(a.text(), "; … ")
	next := between(t, a.text(), "read-output ", " …")
	var at struct {
		Handle string
		Offset int
	}
	if err := json.Unmarshal([]byte(next), &at); err != nil || at.Offset != len(head) || at.Handle != "out-1" {
		t.Fatalf("next call %s (%v) after %d characters", next, err, len(head))
	}
	var got strings.Builder
	got.WriteString(head)
	for range 20 {
		a := p.call("read-output", next)
		if a.Result.IsError {
			t.Fatalf("read-output %s: %s", next, a.text())
		}
		if n := utf8.RuneCountInString(a.text()); n > 4000 {
			t.Fatalf("page of %d characters", n)
		}
		_, body, _ := strings.Cut(a.text(), "\n")
		if !strings.Contains(body, "\n; more: ") {
			got.WriteString(body)
			break
		}
		page, _, _ := strings.Cut(body, "\n; more: ")
		got.WriteString(page)
		_, next, _ = strings.Cut(body, "; more: read-output ")
	}
	if got.String() != all {
		t.Errorf("read %d characters, want %d", got.Len(), len(all))
	}
}

func between(t *testing.T, s, from, to string) string {
	t.Helper()
	_, rest, ok := strings.Cut(s, from)
	in, _, ok2 := strings.Cut(rest, to)
	if !ok || !ok2 {
		t.Fatalf("no text between %q and %q", from, to)
	}
	return in
}

func TestReadOutputErrorsAndGrep(t *testing.T) {
	p := serve(t, Options{MaxOutput: 2000}).handshake()
	refused := func(arguments, want string) {
		t.Helper()
		if a := p.call("read-output", arguments); !a.Result.IsError || !strings.Contains(a.text(), want) {
			t.Errorf("%s: %q, want %q", arguments, a.text(), want)
		}
	}
	refused(`{"handle":"out-1"}`, "none was too long so far")
	p.call("evaluate-lisp", `{"code":"repeat 1000"}`)
	refused(`{"handle":"out-9"}`, `There is no text under the handle "out-9".`)
	refused(`{"handle":"out-9"}`, `out-1 (11,003 characters)`)
	refused(`{"handle":"out-9"}`, `Next: read-output {"handle": "out-1"}`)
	refused(`{"handle":"out-1","offset":20000}`, `offset is 20,000; out-1 has 11,003 characters`)
	refused(`{"handle":"out-1","grep":"("}`, `"grep": "\\("`)
	refused(`{"handle":"out-1","limit":5000}`, "limit is 5000; it must be from 1 to 1700")

	for arguments, want := range map[string]string{
		`{"handle":"1","limit":5}`:                          "; out-1, characters 0 to 5 of 11,003\n=> 01\n; more: read-output {\"handle\": \"out-1\", \"offset\": 5}",
		`{"handle":"OUT-1","offset":"11000"}`:               "; out-1, characters 11,000 to 11,003 of 11,003\n89\n",
		`{"handle":"out-1","grep":"x"}`:                     `No line of out-1 matches "x".`,
		`{"handle":"out-1","grep":"=>"}`:                    "0: => 0123456789\n; 1 matching line in out-1.",
		`{"handle":"out-1","pattern":"9$","limit":30}`:      "0: => 0123456789\n; more matches: read-output {\"handle\": \"out-1\", \"grep\": \"9$\", \"offset\": 14}",
		`{"handle":"out-1","grep":"9$","offset":10981}`:     "10981: 0123456789\n10992: 0123456789\n; 2 matching lines in out-1.",
		`{"handle":"out-1","grep":"(?i)NONE","offset":100}`: `No line of out-1 matches "(?i)NONE".`,
	} {
		if a := p.call("read-output", arguments); a.Result.IsError || a.text() != want {
			t.Errorf("%s: %q, want %q", arguments, a.text(), want)
		}
	}
}

// TestErrorsAreCutSooner: hosts cut errors of more than about 10,000 characters.
func TestErrorsAreCutSooner(t *testing.T) {
	p := serve(t, Options{}).handshake()
	a := p.call("evaluate-lisp", `{"code":"error `+strings.Repeat("x", 20_000)+`"}`)
	if n := utf8.RuneCountInString(a.text()); n > maxErrorOutput || !a.Result.IsError || !strings.HasPrefix(a.text(), "[ERROR] SIMPLE-ERROR\nx") {
		t.Errorf("error of %d characters: %.60q", n, a.text())
	}
	if a := p.call("read-output", `{"handle":"out-1","limit":30}`); !strings.Contains(a.text(), "[ERROR]") {
		t.Errorf("the rest of the error: %q", a.text())
	}
}
