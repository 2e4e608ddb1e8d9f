package restore

import (
	"slices"
	"strings"
	"testing"
	"time"

	"swank-mcp/swank/lisp/journal"
)

// An entry that stands twice is lost only if it failed twice.
func TestRestoredOnceIsEnough(t *testing.T) {
	early, late, never := &journal.Entry{Text: "early"}, &journal.Entry{Text: "late"}, &journal.Entry{Text: "never"}
	done, why := map[*journal.Entry]bool{}, map[*journal.Entry]string{}
	note([]*journal.Entry{early, late, never}, []Failure{{Index: 1, Why: "too soon"}, {Index: 2, Why: "no"}}, done, why)
	if why[late] != "too soon" {
		t.Errorf("after one batch: %v", why)
	}
	note([]*journal.Entry{early, late, never}, []Failure{{Index: 0, Why: "again"}, {Index: 2, Why: "never"}}, done, why)
	if len(why) != 1 || why[never] != "never" {
		t.Errorf("after both: %v", why)
	}
}

// What runs code is given up soon; a function that was only slow to compile this time is not.
func TestFunctionsHaveTimeToComeBack(t *testing.T) {
	j := new(journal.Journal)
	j.Add(&journal.Entry{Keys: []string{"(:FUNCTION . F)"}, Text: "f", Package: "P"})
	j.Add(&journal.Entry{Keys: []string{"(:FUNCTION . G)"}, Text: "g", Package: "P", Runs: true})
	j.Add(&journal.Entry{Keys: []string{"(:VARIABLE . V)"}, Text: "v", Package: "P", Took: 2 * time.Millisecond})
	a := New().Begin(j, t.TempDir())
	defer a.Close()
	if !a.Next() {
		t.Fatal("nothing to do")
	}
	call := a.Call("s", 1).String()
	for _, want := range []string{`("f" "P" 0. 20.)`, `("g" "P" 0. 0.)`, `("v" "P" 8. 0.)`} {
		if !strings.Contains(strings.ReplaceAll(call, "( ", "("), want) {
			t.Errorf("%s has no %s", call, want)
		}
	}
}

func TestBatchesStayBelowAFrame(t *testing.T) {
	var entries []*journal.Entry
	for range 30 {
		entries = append(entries, &journal.Entry{Text: strings.Repeat("x", 300<<10)})
	}
	for len(entries) > 0 {
		n := batchSize(entries)
		if n < 1 || n*300<<10 > batchBytes {
			t.Fatalf("a batch of %d", n)
		}
		entries = entries[n:]
	}
}

func threeFunctions() *journal.Journal {
	j := new(journal.Journal)
	for _, name := range []string{"F", "G", "H"} {
		j.Add(&journal.Entry{Keys: []string{"(:FUNCTION . " + name + ")"}, Text: name})
	}
	return j
}

// batches drives a to its end; of each batch the entries in failing fail.
func batches(a *Attempt, failing ...string) string {
	var all []string
	for a.Next() {
		var names []string
		var failures []Failure
		for i, e := range a.batch {
			names = append(names, e.Text)
			if slices.Contains(failing, e.Text) {
				failures = append(failures, Failure{Index: i, Why: "no", End: endFailed})
			}
		}
		all = append(all, strings.Join(names, " "))
		a.Done(failures)
	}
	return strings.Join(all, ", ")
}

// What has failed is tried again where later batches may have made a difference.
func TestPasses(t *testing.T) {
	for _, c := range []struct{ dir, want string }{
		{t.TempDir(), "F G H"}, // one batch: there is nothing later
		{"", "F, G, H, G"},     // without a board, singly
	} {
		a := New().Begin(threeFunctions(), c.dir)
		if got := batches(a, "G"); got != c.want || len(a.Why()) != 1 || a.Tainted() {
			t.Errorf("batches %s, want %s; failed: %v", got, c.want, a.Why())
		}
		a.Close()
	}
}

// The image is asked for the entry that it died of; one that somebody may have killed
// from outside is forgiven once.
func TestBlame(t *testing.T) {
	j, dir := threeFunctions(), t.TempDir()
	g := j.All()[1]
	r := New()
	for _, c := range []struct {
		at      byte // the entry on the board, from 1
		outside bool
		bad     string
		next    string
	}{
		{2, true, "", "F G H"},
		{2, true, "it cost the image: killed", "F H"},
	} {
		a := r.Begin(j, dir)
		if !a.Next() {
			t.Fatal("no batch")
		}
		if _, err := a.board.file.WriteAt([]byte{c.at}, 4*boardEntry); err != nil { // of a little-endian word
			t.Fatal(err)
		}
		a.Died(c.outside, "killed")
		a.Close()
		next := r.Begin(j, dir)
		if got := batches(next); g.Bad != c.bad || got != c.next {
			t.Errorf("bad %q, want %q; then %s, want %s", g.Bad, c.bad, got, c.next)
		}
		next.Close()
	}
	unknown := r.Begin(j, dir)
	unknown.Next()
	unknown.Died(false, "killed")
	unknown.Close()
	singly := r.Begin(j, dir)
	defer singly.Close()
	if got := batches(singly); got != "F, H" {
		t.Errorf("after a death of which no entry is known: %s, want one at a time", got)
	}
}
