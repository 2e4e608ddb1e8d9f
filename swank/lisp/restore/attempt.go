package restore

import (
	"slices"
	"time"

	"swank-mcp/swank/lisp/helper"
	"swank-mcp/swank/lisp/journal"
)

// A batch stays well below the largest frame, and within a board.
const (
	batchEntries = 1000
	batchBytes   = 2 << 20
)

// Failure is how the evaluation of an entry ended that did not succeed, as the
// helper's RESTORE tells it.
type Failure struct {
	_     struct{} `sexp:",list"`
	Index int      // of the entry in its batch
	Why   string
	End   Ending
}

// Attempt is the bringing back of a session into one image, batch by batch. After
// [Attempt.Next] one of TooLarge, Died and Done tells what became of the batch.
type Attempt struct {
	r     *Recovery
	j     *journal.Journal
	board *board // nil: there is none

	todo    []*journal.Entry
	batch   []*journal.Entry // the beginning of todo
	why     map[*journal.Entry]string
	done    map[*journal.Entry]bool
	batches int
	again   bool // what has failed was put into batches again
	tainted bool // code was broken off that had interrupts off
}

// Begin begins to bring the session of j back into the image whose own directory
// is dir; without one, "", each entry is a batch of its own.
func (r *Recovery) Begin(j *journal.Journal, dir string) *Attempt {
	a := &Attempt{r: r, j: j, board: newBoard(dir), why: map[*journal.Entry]string{}, done: map[*journal.Entry]bool{}}
	a.todo = r.todo(j.All(), a.why)
	return a
}

// Close removes what was made for the attempt.
func (a *Attempt) Close() { a.board.close() }

// Next goes on to the next batch and reports whether there is one. What has failed
// is in a batch again when all others have been, if these may have made a difference.
func (a *Attempt) Next() bool {
	a.todo, a.batch = a.todo[len(a.batch):], nil
	for {
		a.todo = slices.DeleteFunc(a.todo, func(e *journal.Entry) bool { return a.r.skip[e] != "" || e.Bad != "" })
		n := batchSize(a.todo)
		if a.board == nil || a.r.singly {
			n = min(n, 1)
		}
		if n > 0 {
			a.batch = a.todo[:n]
			a.batches++
			a.board.clear()
			return true
		}
		if a.tainted {
			a.r.spent++
			return false
		}
		if a.again {
			return false
		}
		a.again = true
		a.todo = a.r.todo(a.failed(), a.why)
	}
}

// failed returns the entries that are to be tried again behind all others: those broken
// off for time, and those that lacked something that may be there now.
func (a *Attempt) failed() (failed []*journal.Entry) {
	var late bool
	for _, e := range a.j.All() {
		if a.why[e] != "" && !slices.Contains(failed, e) {
			failed = append(failed, e)
			late = late || a.r.late[e] > 0 && a.r.skip[e] == ""
		}
	}
	if a.batches < 2 && !late {
		return nil
	}
	return failed
}

// Call is the call that evaluates the batch in the session of that name, under that
// token.
func (a *Attempt) Call(session string, token int64) *helper.Call {
	c := helper.NewCall("RESTORE")
	c.Quote(len(a.batch), func(i int) {
		text, pkg := a.batch[i].Source()
		c.Str(text).Str(pkg).Num(limit(a.batch[i]).Milliseconds())
	})
	c.Key("SESSION").Str(session).Key("TOKEN").Num(token)
	c.Key("PATIENCE").Num(a.r.patience.Milliseconds()).Key("ALLOWANCE").Num(a.r.allowance.Milliseconds())
	if a.board != nil {
		c.Key("FILE").Str(a.board.name())
	}
	if a.j.Package != "" {
		c.Key("PACKAGE").Str(a.j.Package)
	}
	return c
}

// Halve leaves half of the batch for later, and reports whether it could: it was too
// large for one message.
func (a *Attempt) Halve() bool {
	if len(a.batch) < 2 {
		return false
	}
	a.batch = a.batch[:len(a.batch)/2]
	return true
}

// TooLarge notes that the batch, which is one entry, does not fit into a message.
func (a *Attempt) TooLarge() {
	note(a.batch, []Failure{{Why: "its source is too large for one message to the image"}}, a.done, a.why)
}

// Hopeless says why the image has to be ended under the batch, "" if it need not be.
// Had is for how long the image could act since the batch began.
func (a *Attempt) Hopeless(had time.Duration) string { return a.board.hopeless(had) }

// Death is what has ended an image.
type Death int

const (
	ByItself    Death = iota
	ByUs              // because it was hopeless, or did not answer
	FromOutside       // a signal that people and systems send
)

// Died notes that the image has ended during the batch, as how says.
func (a *Attempt) Died(by Death, how string) { a.r.blame(a.batch, a.board, by, how) }

// Left notes how entries of the batch had ended when a caller did not wait for the rest. The one
// under way is not blamed.
func (a *Attempt) Left() { a.r.learn(a.batch, a.board, nil) }

// Done notes which entries of the batch have failed.
func (a *Attempt) Done(failures []Failure) {
	a.r.learn(a.batch, a.board, failures)
	note(a.batch, failures, a.done, a.why)
	for _, f := range failures {
		a.tainted = a.tainted || f.End.kind() == endForced
	}
}

// Tainted reports that the image is not to be used: code that had interrupts off was
// broken off in it, which may have left anything half done.
func (a *Attempt) Tainted() bool { return a.tainted }

// Settle returns why entries have not come back. Those for which another image
// changes nothing are [journal.Entry.Bad] from now on; those that were only broken off
// for time are not.
func (a *Attempt) Settle() map[*journal.Entry]string {
	for e, w := range a.why {
		if e.Bad == "" && !e.System() && !a.r.keep[e] {
			e.Bad = "not restored: " + w
		}
	}
	return a.why
}

// note sorts the entries of a batch into those that are done and those that
// failed, and why. One that stands twice needs to succeed once.
func note(batch []*journal.Entry, failures []Failure, done map[*journal.Entry]bool, why map[*journal.Entry]string) {
	failed := map[int]string{}
	for _, f := range failures {
		failed[f.Index] = f.End.words(f.Why)
	}
	for i, e := range batch {
		if w, ok := failed[i]; !ok {
			done[e] = true
			delete(why, e)
		} else if !done[e] {
			why[e] = w
		}
	}
}

func batchSize(entries []*journal.Entry) int {
	bytes := 0
	for i, e := range entries {
		if bytes += len(e.Text); i > 0 && (bytes > batchBytes || i == batchEntries) {
			return i
		}
	}
	return len(entries)
}
