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

func TestJournalKeepsTheNewest(t *testing.T) {
	var j journal
	j.add([]string{"(:FUNCTION . F)"}, "f1", "P")
	j.add([]string{"(:VARIABLE . X)", "(:FUNCTION . G)"}, "xg", "P")
	j.add([]string{"(:FUNCTION . F)"}, "f2", "P")
	if got := texts(&j); got != "xg f2" {
		t.Errorf("after a redefinition: %s", got)
	}
	j.add([]string{"(:FUNCTION . G)"}, "g2", "P") // X still needs the old form
	if got := texts(&j); got != "xg f2 g2" {
		t.Errorf("with one name of two superseded: %s", got)
	}
	j.add([]string{"(:VARIABLE . X)"}, "x2", "P")
	if got := texts(&j); got != "f2 g2 x2" {
		t.Errorf("with both superseded: %s", got)
	}
	if got := j.names(":VARIABLE"); !slices.Equal(got, []string{"X"}) {
		t.Errorf("variables: %v", got)
	}
	j.addSystem("alexandria")
	j.addSystem("alexandria")
	if got := j.summary(); got != "3 definitions and the system alexandria" {
		t.Errorf("summary: %s", got)
	}
	if got := texts(&j); !strings.HasSuffix(got, `x2 (|SWANK-MCP|::|RESTORE-SYSTEM| "alexandria")`) {
		t.Errorf("with a system: %s", got)
	}
}

func TestJournalIsBounded(t *testing.T) {
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
	if len(j.entries) > 100 {
		t.Errorf("%d places for %d entries", len(j.entries), j.live)
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
