package aside

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Long arguments come back whole, once; the rest of the call stays.
func TestCut(t *testing.T) {
	arguments := `{"code": "` + strings.Repeat("(f) ", long/4) + `"}`
	short, a := Cut([]byte(`{"name": "evaluate-lisp", "arguments": ` + arguments + `, "_meta": {"progressToken": 7}}`))
	if a == nil || len(short) > 200 {
		t.Fatalf("the call has %d bytes: %.300s", len(short), short)
	}
	var call struct {
		Name      string
		Arguments json.RawMessage
		Meta      map[string]int `json:"_meta"`
	}
	if err := json.Unmarshal(short, &call); err != nil {
		t.Fatal(err)
	}
	if call.Name != "evaluate-lisp" || call.Meta["progressToken"] != 7 {
		t.Errorf("the call is %s", short)
	}
	var s Store
	if got := s.Take(call.Arguments); string(got) != string(call.Arguments) {
		t.Errorf("a mark of what is not kept became %.100s", got)
	}
	s.Keep(a)
	if got := s.Take(call.Arguments); string(got) != arguments {
		t.Errorf("%.100s came back", got)
	}
	if got := s.Take(call.Arguments); string(got) != string(call.Arguments) {
		t.Errorf("they came back twice: %.100s", got)
	}
	if a.raw != nil || len(s.all) > 0 {
		t.Error("they are held still")
	}
}

// What was discarded is not there any more.
func TestDiscard(t *testing.T) {
	var s Store
	s.Keep(nil)
	s.Discard(nil)
	short, a := Cut([]byte(`{"arguments":{"code":"` + strings.Repeat("a", long) + `"}}`))
	s.Keep(a)
	s.Discard(a)
	var call struct{ Arguments json.RawMessage }
	if err := json.Unmarshal(short, &call); err != nil {
		t.Fatal(err)
	}
	if got := s.Take(call.Arguments); string(got) != string(call.Arguments) {
		t.Errorf("%.100s came back", got)
	}
}

// What is short, or has no arguments, stays as it was.
func TestShort(t *testing.T) {
	for _, params := range []string{
		``, `{}`, `[1]`, `{"arguments":{"code":"(f)"}}`,
		`{"name":"` + strings.Repeat("a", long) + `"}`,
		`{"arguments":1,"name":"` + strings.Repeat("a", long) + `"}`,
		`["` + strings.Repeat("a", long) + `"]`,
	} {
		short, a := Cut([]byte(params))
		if diff := cmp.Diff(params, string(short)); diff != "" || a != nil {
			t.Errorf("%.60s: %v, (-want +got)\n%s", params, a, diff)
		}
	}
	var s Store
	for _, arguments := range []string{``, `{}`, `{"kept aside":"x"}`, `{"kept aside":"`} {
		if got := s.Take(json.RawMessage(arguments)); string(got) != arguments {
			t.Errorf("%q became %q", arguments, got)
		}
	}
}
