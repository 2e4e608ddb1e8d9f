package lisp

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func texts(j *journal) string {
	var out []string
	for _, e := range j.all() {
		out = append(out, e.text)
	}
	return strings.Join(out, " ")
}

// The newest source stands where the name was first defined, for those that
// were defined after it, and at the end, for those that it needs itself.
func TestJournalKeepsTheNewest(t *testing.T) {
	var j journal
	is := func(when, want string) {
		t.Helper()
		if got := texts(&j); got != want {
			t.Errorf("%s: %s, want %s", when, got, want)
		}
	}
	j.add([]string{"(:FUNCTION . F)"}, "f1", "P")
	j.add([]string{"(:FUNCTION . F)"}, "f2", "P")
	is("redefined at once", "f2")
	j.add([]string{"(:VARIABLE . X)", "(:FUNCTION . G)"}, "xg", "P")
	j.add([]string{"(:FUNCTION . F)"}, "f3", "P")
	is("redefined later", "f3 xg f3")
	j.add([]string{"(:FUNCTION . F)"}, "f4", "P")
	is("redefined once more", "f4 xg f4")
	j.add([]string{"(:FUNCTION . G)"}, "g2", "P") // X still needs the old form
	is("one name of two superseded", "f4 xg f4 g2")
	j.add([]string{"(:VARIABLE . X)"}, "x2", "P")
	is("both superseded; a variable is not evaluated twice", "f4 x2 f4 g2")
	if got := j.names(":VARIABLE"); !slices.Equal(got, []string{"X"}) {
		t.Errorf("variables: %v", got)
	}
	j.addSystem("alexandria")
	j.addSystem("alexandria")
	if got := j.summary(); got != "3 definitions and the system alexandria" {
		t.Errorf("summary: %s", got)
	}
	is("with a system", `f4 x2 f4 g2 (|SWANK-MCP|::|RESTORE-SYSTEM| "alexandria")`)
	j.forget("(:FUNCTION . F)")
	j.forget("(:FUNCTION . NEVER)")
	j.lose("(:VARIABLE . LOOSE)", whyAssigned)
	j.lose("(:VARIABLE . X)", whyAssigned) // has a definition
	j.lose("(:VARIABLE . GONE)", whyAssigned)
	j.forget("(:VARIABLE . GONE)")
	if got := j.lost(); !strings.HasSuffix(got, ": LOOSE") {
		t.Errorf("variables without definition: %q", got)
	}
	is("undefined", `x2 g2 (|SWANK-MCP|::|RESTORE-SYSTEM| "alexandria")`)
}

func TestJournalIsBounded(t *testing.T) {
	t.Parallel()
	var j journal
	for i := range journalEntries + 500 {
		j.add([]string{fmt.Sprintf("(:FUNCTION . F%d)", i)}, fmt.Sprint(i), "P")
	}
	if len(j.all()) != journalEntries || j.dropped != 500 || j.all()[0].text != "500" {
		t.Errorf("%d entries, %d dropped, first %q", len(j.all()), j.dropped, j.all()[0].text)
	}
	j = journal{}
	for i := range 20 {
		j.add([]string{fmt.Sprint(i)}, strings.Repeat("x", 1<<20), "P")
	}
	if j.bytes > journalBytes || len(j.all()) != 16 {
		t.Errorf("%d bytes in %d entries", j.bytes, len(j.all()))
	}
	for range 100_000 { // the same name for ever
		j.add([]string{"(:FUNCTION . F)"}, "f", "P")
	}
	if len(j.places) > 100 {
		t.Errorf("%d places for %d entries", len(j.places), j.live)
	}
}

func TestBatchesStayBelowAFrame(t *testing.T) {
	var entries []*entry
	for range 30 {
		entries = append(entries, &entry{text: strings.Repeat("x", 300<<10)})
	}
	for len(entries) > 0 {
		n := batchSize(entries)
		if n < 1 || n*300<<10 > restoreBytes {
			t.Fatalf("a batch of %d", n)
		}
		entries = entries[n:]
	}
}

// A reset leaves the systems, for the next image, too.
func TestJournalReset(t *testing.T) {
	var j journal
	j.add([]string{"(:FUNCTION . F)"}, "f", "CL-USER")
	j.addSystem("alexandria")
	j.add([]string{"(:VARIABLE . V)"}, "v", "CL-USER")
	j.lose("(:VARIABLE . W)", whyAssigned)
	j.reset()
	if got := j.summary() + j.lost(); got != "the system alexandria" || j.live != 1 || j.bytes != len(texts(&j)) {
		t.Errorf("after a reset: %q, %d entries, %d bytes", got, j.live, j.bytes)
	}
	j.forget(systemKey("alexandria"))
	if j.live != 0 || j.bytes != 0 || texts(&j) != "" {
		t.Errorf("%d entries, %d bytes, %q are left", j.live, j.bytes, texts(&j))
	}
}
