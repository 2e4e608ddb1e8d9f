package journal

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func texts(j *Journal) string {
	var out []string
	for _, e := range j.All() {
		out = append(out, e.Text)
	}
	return strings.Join(out, " ")
}

// The newest source stands where the name was first defined, for those that
// were defined after it, and at the end, for those that it needs itself.
func TestJournalKeepsTheNewest(t *testing.T) {
	var j Journal
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
	j.AddSystem("alexandria")
	j.AddSystem("alexandria")
	if got := j.Summary(); got != "3 definitions and the system alexandria" {
		t.Errorf("summary: %s", got)
	}
	is("with a system", `f4 x2 f4 g2 (|SWANK-MCP|::|RESTORE-SYSTEM| "alexandria")`)
	j.forget("(:FUNCTION . F)")
	j.forget("(:FUNCTION . NEVER)")
	j.Lose("(:VARIABLE . LOOSE)", whyAssigned)
	j.Lose("(:VARIABLE . X)", whyAssigned) // has a definition
	j.Lose("(:VARIABLE . GONE)", whyAssigned)
	j.forget("(:VARIABLE . GONE)")
	if got := j.lost(); !strings.HasSuffix(got, ": LOOSE") {
		t.Errorf("variables without definition: %q", got)
	}
	is("undefined", `x2 g2 (|SWANK-MCP|::|RESTORE-SYSTEM| "alexandria")`)
}

func TestJournalIsBounded(t *testing.T) {
	t.Parallel()
	var j Journal
	for i := range maxEntries + 500 {
		j.add([]string{fmt.Sprintf("(:FUNCTION . F%d)", i)}, fmt.Sprint(i), "P")
	}
	if len(j.All()) != maxEntries || j.dropped != 500 || j.All()[0].Text != "500" {
		t.Errorf("%d entries, %d dropped, first %q", len(j.All()), j.dropped, j.All()[0].Text)
	}
	j = Journal{}
	for i := range 20 {
		j.add([]string{fmt.Sprint(i)}, strings.Repeat("x", 1<<20), "P")
	}
	if j.bytes > maxBytes || len(j.All()) != 16 {
		t.Errorf("%d bytes in %d entries", j.bytes, len(j.All()))
	}
	for range 100_000 { // the same name for ever
		j.add([]string{"(:FUNCTION . F)"}, "f", "P")
	}
	if len(j.places) > 100 {
		t.Errorf("%d places for %d entries", len(j.places), j.live)
	}
}

// Each definition costs some steps, however many there are: of names that are new, redefined in
// order and in the reverse one, and of more than are kept.
func TestJournalSteps(t *testing.T) {
	t.Parallel()
	const names, most = 5_000, 12
	for what, name := range map[string]func(i int) int{
		"again":           func(i int) int { return i % names },
		"backwards":       func(i int) int { return max(i%(2*names), 2*names-1-i%(2*names)) - names },
		"the first often": func(i int) int { return i % names * (i % 2) },
		"more than fit":   func(i int) int { return i },
	} {
		j := Journal{bytes: maxBytes - 10*names} // so that no more fit than names
		for i := range 4 * names {
			j.add([]string{fmt.Sprintf("(:FUNCTION . F%d)", name(i))}, "0123456789", "P")
		}
		if j.steps > 4*names*most {
			t.Errorf("%s: %d steps for %d definitions, want at most %d for each", what, j.steps, 4*names, most)
		}
	}
}

// A reset leaves the systems, for the next image, too.
func TestJournalReset(t *testing.T) {
	var j Journal
	j.add([]string{"(:FUNCTION . F)"}, "f", "CL-USER")
	j.AddSystem("alexandria")
	j.add([]string{"(:VARIABLE . V)"}, "v", "CL-USER")
	j.Lose("(:VARIABLE . W)", whyAssigned)
	j.Reset()
	if got := j.Summary() + j.lost(); got != "the system alexandria" || j.live != 1 || j.bytes != len(texts(&j)) {
		t.Errorf("after a reset: %q, %d entries, %d bytes", got, j.live, j.bytes)
	}
	j.forget(systemKey("alexandria"))
	if j.live != 0 || j.bytes != 0 || texts(&j) != "" {
		t.Errorf("%d entries, %d bytes, %q are left", j.live, j.bytes, texts(&j))
	}
}

// Jobs tell late what they have defined: what was defined after that stays.
func TestJournalKeepsTheHigherOrder(t *testing.T) {
	var j Journal
	add := func(order int64, text string, keys ...string) {
		j.Add(&Entry{Keys: keys, Text: text, Package: "P", Order: order})
	}
	add(3, "f3", "(:FUNCTION . F)")
	add(1, "f1", "(:FUNCTION . F)")
	if got := texts(&j); got != "f3" {
		t.Errorf("an older one came later: %s", got)
	}
	add(2, "fg", "(:FUNCTION . F)", "(:FUNCTION . G)")
	if got := j.names(":FUNCTION"); !slices.Equal(got, []string{"F", "G"}) || j.byKey["(:FUNCTION . F)"].Text != "f3" {
		t.Errorf("of an older one with two names: %v, F is %s", got, j.byKey["(:FUNCTION . F)"].Text)
	}
	j.NewImage()
	add(1, "f4", "(:FUNCTION . F)")
	if got := j.byKey["(:FUNCTION . F)"].Text; got != "f4" {
		t.Errorf("in a new image, which counts anew: %s", got)
	}
}

// What another journal has as well is left out of a source, whole forms only.
func TestWithout(t *testing.T) {
	var had, all Journal
	for _, j := range []*Journal{&had, &all} {
		j.AddSystem("alexandria")
		j.add([]string{"(:VARIABLE . X)"}, "(defvar x\n\n  1)", "P")
		j.add([]string{"(:FUNCTION . F)"}, "(defun f () 1)", "P")
	}
	now := time.Now()
	if got := had.Without(all.Source("s.lisp", now)); got != "" {
		t.Errorf("of the same is left:\n%s", got)
	}
	all.add([]string{"(:FUNCTION . G)"}, "(defun g ()\n (defun f () 1)\n\n)", "Q")
	all.add([]string{"(:VARIABLE . X)"}, "(defvar x\n\n  2)", "P")
	got := had.Without(all.Source("s.lisp", now))
	for text, want := range map[string]bool{"(defvar x\n\n  2)": true, "(cl:in-package #:q)\n\n(defun g ()\n (defun f () 1)\n\n)": true, "(defvar x\n\n  1)": false, "\n(defun f": false, "alexandria": false} {
		if strings.Contains(got[strings.Index(got, "\n\n"):], text) != want {
			t.Errorf("that it has %q should be %v:\n%s", text, want, got)
		}
	}
	var none Journal
	if source := all.Source("s.lisp", now); strings.TrimRight(none.Without(source), "\n")+"\n" != source {
		t.Errorf("without nothing:\n%s", none.Without(source))
	}
	if got := none.Without(none.Source("s.lisp", now)); got != "" {
		t.Errorf("of nothing is left:\n%s", got)
	}
}
