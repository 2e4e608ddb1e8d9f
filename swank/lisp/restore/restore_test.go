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

// What only defines has more time than any definition needs; what runs code has a limit by how
// long it took.
func TestLimits(t *testing.T) {
	j := new(journal.Journal)
	j.Add(&journal.Entry{Keys: []string{"(:FUNCTION . F)"}, Text: "f", Package: "P"})
	j.Add(&journal.Entry{Keys: []string{"(:FUNCTION . G)"}, Text: "g", Package: "P", Runs: true})
	j.Add(&journal.Entry{Keys: []string{"(:VARIABLE . V)"}, Text: "v", Package: "P", Took: 2 * time.Millisecond})
	j.Add(&journal.Entry{Keys: []string{"(:CONSTANT . C)"}, Text: "c", Package: "P", Took: time.Second})
	j.Add(&journal.Entry{Keys: []string{"(:STRUCTURE . S)"}, Text: "s", Package: "P"})
	j.Add(&journal.Entry{Keys: []string{"(:FUNCTION . L)"}, Text: "l", Package: "P", Took: time.Minute})
	j.Add(&journal.Entry{Keys: []string{"(:SYSTEM . Y)"}, Text: "y", Package: "P"})
	a := New().Begin(j, t.TempDir())
	defer a.Close()
	if !a.Next() {
		t.Fatal("nothing to do")
	}
	call := a.Call("s", 1).String()
	for _, want := range []string{`("f" "P" 10000.)`, `("g" "P" 0.)`, `("v" "P" 8.)`, `("c" "P" 20000.)`, `("s" "P" 10000.)`, `("l" "P" 1200000.)`, `("y" "P" 120000.)`} {
		if !strings.Contains(strings.ReplaceAll(call, "( ", "("), want) {
			t.Errorf("%s has no %s", call, want)
		}
	}
}

// What is broken off for time is tried again behind all others, also in the image after one
// that another entry has cost. It is kept even if it does not end then; what has failed is not.
func TestBrokenOffForTime(t *testing.T) {
	j, dir := threeFunctions(), t.TempDir()
	f, g, h := j.All()[0], j.All()[1], j.All()[2]
	r := New()
	first := r.Begin(j, dir)
	first.Next()
	if _, err := first.board.file.WriteAt([]byte{byte(endHung) + 1}, 4*boardEnds); err != nil { // of a little-endian word
		t.Fatal(err)
	}
	first.Left()
	first.Close()
	if r.late[f] != 1 || r.skip[f] != "" {
		t.Fatalf("when a caller did not wait: late %d times, %q", r.late[f], r.skip[f])
	}
	r = New()
	first = r.Begin(j, dir)
	first.Next()
	first.Done([]Failure{{Index: 0, End: endHung}, {Index: 1, Why: "no", End: endFailed}})
	if !first.Next() || len(first.batch) != 2 || first.batch[0] != f && first.batch[1] != f {
		t.Fatalf("the next batch is %v", first.batch)
	}
	first.Died(ByItself, "killed") // nobody knows by which
	first.Close()
	second := r.Begin(j, dir)
	defer second.Close()
	if got := batches(second, "F:hung", "G"); got != "G, H, F, G" {
		t.Errorf("batches %s", got)
	}
	why := second.Settle()
	if len(why) != 2 || !strings.Contains(why[f], "did not end") || why[g] != "no" || f.Bad != "" || h.Bad != "" || g.Bad != "not restored: no" {
		t.Errorf("%v; bad: %q, %q, %q", why, f.Bad, g.Bad, h.Bad)
	}
}

// An image is given up only for what it does while it has the processor.
func TestSilence(t *testing.T) {
	j := threeFunctions()
	g := j.All()[1]
	r := New()
	for try := range 3 {
		a := r.Begin(j, t.TempDir())
		a.Next()
		at := slices.Index(a.batch, g) + 1
		if (at > 0) != (try < maxTries) || try == 1 && at != 3 {
			t.Fatalf("try %d: it is entry %d", try, at)
		}
		word := func(i int, value byte) {
			if _, err := a.board.file.WriteAt([]byte{value}, int64(4*i)); err != nil { // of a little-endian word
				t.Fatal(err)
			}
		}
		word(boardEntry, byte(at))
		word(boardBeat, 1)
		for _, used := range []time.Duration{1, 2, 2} { // seconds
			if why := a.Hopeless(used * time.Second); why != "" {
				t.Errorf("after %d s of the processor: %s", used, why)
			}
		}
		word(boardBeat, 2)
		if why := a.Hopeless(10 * time.Second); why != "" {
			t.Errorf("with an answer: %s", why)
		}
		if why := a.Hopeless(14 * time.Second); at > 0 && why == "" {
			t.Error("no end")
		}
		if at > 0 {
			a.Died(ByUs, "killed")
		} else if why := a.Settle(); why[g] == "" || g.Bad != "" {
			t.Errorf("why %q, bad %q", why[g], g.Bad)
		}
		a.Close()
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

// batches drives a to its end; of each batch the entries in failing fail, "F:hung" by time.
func batches(a *Attempt, failing ...string) string {
	var all []string
	for a.Next() {
		var names []string
		var failures []Failure
		for i, e := range a.batch {
			names = append(names, e.Text)
			if slices.Contains(failing, e.Text) {
				failures = append(failures, Failure{Index: i, Why: "no", End: endFailed})
			} else if slices.Contains(failing, e.Text+":hung") {
				failures = append(failures, Failure{Index: i, End: endHung})
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
		if got := batches(a, "G"); got != c.want || len(a.Settle()) != 1 || a.Tainted() {
			t.Errorf("batches %s, want %s; failed: %v", got, c.want, a.Settle())
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
		at   byte // the entry on the board, from 1
		by   Death
		bad  string
		next string
	}{
		{2, FromOutside, "", "F G H"},
		{2, FromOutside, "it cost the image: killed", "F H"},
	} {
		a := r.Begin(j, dir)
		if !a.Next() {
			t.Fatal("no batch")
		}
		if _, err := a.board.file.WriteAt([]byte{c.at}, 4*boardEntry); err != nil { // of a little-endian word
			t.Fatal(err)
		}
		a.Died(c.by, "killed")
		a.Close()
		next := r.Begin(j, dir)
		if got := batches(next); g.Bad != c.bad || got != c.next {
			t.Errorf("bad %q, want %q; then %s, want %s", g.Bad, c.bad, got, c.next)
		}
		next.Close()
	}
	unknown := r.Begin(j, dir)
	unknown.Next()
	unknown.Died(ByItself, "killed")
	unknown.Close()
	singly := r.Begin(j, dir)
	defer singly.Close()
	if got := batches(singly); got != "F, H" {
		t.Errorf("after a death of which no entry is known: %s, want one at a time", got)
	}
}

// An entry that could not be stopped is blamed, also if it ends at last and the next one is under
// way when the image is ended.
func TestBlameTheStuck(t *testing.T) {
	j, r := threeFunctions(), New()
	a := r.Begin(j, t.TempDir())
	if !a.Next() {
		t.Fatal("no batch")
	}
	for word, n := range map[int64]byte{boardEntry: 2, boardStuck: 1} {
		if _, err := a.board.file.WriteAt([]byte{n}, 4*word); err != nil { // of a little-endian word
			t.Fatal(err)
		}
	}
	a.Died(ByUs, a.Hopeless(0))
	a.Close()
	next := r.Begin(j, t.TempDir())
	defer next.Close()
	if got := batches(next); got != "G H" || !strings.Contains(j.All()[0].Bad, "could not be stopped") || j.All()[1].Bad != "" {
		t.Errorf("%s; bad: %q, %q", got, j.All()[0].Bad, j.All()[1].Bad)
	}
}
