package restore

import (
	"fmt"
	"time"

	"swank-mcp/swank/lisp/journal"
)

const (
	// What may be used up for entries that do not end, all together; and for
	// those that were slow at first, and so may be slow again.
	patience  = 60 * time.Millisecond
	allowance = 2 * time.Minute

	// maxImages is how many images bringing a session back may cost. From then
	// on only what has been evaluated in one of them is evaluated again.
	maxImages = 25
)

// Recovery is what is known of a session's entries while it is brought back,
// which may take more than one image.
type Recovery struct {
	skip      map[*journal.Entry]string // those that are not evaluated any more, and why
	proven    map[*journal.Entry]bool   // those that were evaluated in an image
	suspect   map[*journal.Entry]bool   // those during which a signal from outside may have ended the image
	spent     int                       // images that it has cost
	singly    bool                      // one entry at a time, because it is not known which it was
	patience  time.Duration             // left
	allowance time.Duration
}

// New returns what is known at first: nothing.
func New() *Recovery {
	return &Recovery{skip: map[*journal.Entry]string{}, proven: map[*journal.Entry]bool{}, suspect: map[*journal.Entry]bool{},
		patience: patience, allowance: allowance}
}

// todo returns those of the entries that are to be evaluated, and notes in why
// those that are not.
func (r *Recovery) todo(entries []*journal.Entry, why map[*journal.Entry]string) []*journal.Entry {
	var todo []*journal.Entry
	for _, e := range entries {
		switch {
		case e.Bad != "":
			why[e] = e.Bad
		case r.skip[e] != "":
			why[e] = r.skip[e]
		case r.spent > maxImages && !r.proven[e] || r.spent > maxImages+5:
			why[e] = fmt.Sprintf("not tried, after %d images had ended while the session was brought back", r.spent)
		default:
			todo = append(todo, e)
		}
	}
	return todo
}

// learn notes what an answer, or the board of an image that gave none, says of
// how the entries of a batch ended.
func (r *Recovery) learn(batch []*journal.Entry, b *board) {
	for i, e := range batch {
		switch code := Ending(b.word(boardEnds+i)) - 1; {
		case code < 0:
		case code == endDone, code.kind() == endDone:
			r.proven[e] = true
		default:
			r.ended(e, code, "")
		}
	}
	if p, a := b.word(boardPatience), b.word(boardAllowance); p != 0 || a != 0 {
		r.patience, r.allowance = time.Duration(p)*time.Millisecond, time.Duration(a)*time.Millisecond
	}
}

// ended notes how an entry ended that failed.
func (r *Recovery) ended(e *journal.Entry, code Ending, text string) {
	if code.kind() == endForced {
		e.Bad = code.words(text)
	} else if code.final() {
		r.skip[e] = code.words(text)
	}
}

// blame notes which entry of a batch has cost the image, which ended as how says;
// outside: it was a signal that people and systems send.
func (r *Recovery) blame(batch []*journal.Entry, b *board, outside bool, how string) {
	r.spent++
	r.learn(batch, b)
	i := int(b.word(boardEntry)) - 1
	switch {
	case i >= 0 && i < len(batch):
	case len(batch) == 1:
		i = 0
	default:
		r.singly = true
		return
	}
	e := batch[i]
	if outside && !r.suspect[e] {
		r.suspect[e] = true // a person may have killed the image
		return
	}
	e.Bad = "it cost the image: " + how
}

// grace is how long evaluating e again may take in any case: what took its time
// once may do so again. What took next to none is measured too coarsely for much
// of a margin. Loading a system may mean to compile it.
func grace(e *journal.Entry) time.Duration {
	if e.System() {
		return allowance
	}
	if e.Took < 20*time.Millisecond {
		return 4 * e.Took
	}
	return 20 * e.Took
}

// least is what e may take whatever it took at first. What only defines has no reason to
// hang, and takes the time of several others when the collector runs in it or the machine
// is busy.
func least(e *journal.Entry) time.Duration {
	if e.Once() {
		return 0
	}
	return 20 * time.Millisecond
}
