package restore

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"swank-mcp/swank/lisp/journal"
)

const (
	// What the entries that do not end may use of the time in which the image
	// really runs, all together; and, apart from that, those that have a longer
	// limit of their own.
	patience  = 300 * time.Millisecond
	allowance = 2 * time.Minute

	// What only defines has far more than any definition needs, and less than
	// callers wait: only a macro of the user's can hang in it.
	definitionLimit = 10 * time.Second

	// maxImages is how many images bringing a session back may cost. From then
	// on only what has been evaluated in one of them is evaluated again.
	maxImages = 25

	// maxTries is how often an entry is tried that is broken off for time.
	maxTries = 2
)

// Recovery is what is known of a session's entries while it is brought back,
// which may take more than one image.
type Recovery struct {
	skip      map[*journal.Entry]string // those that are not evaluated any more, and why
	proven    map[*journal.Entry]bool   // those that were evaluated in an image
	suspect   map[*journal.Entry]bool   // those during which a signal from outside may have ended the image
	late      map[*journal.Entry]int    // how often those were broken off for time, which come behind all others
	keep      map[*journal.Entry]bool   // those that may come back in an image after the next death
	spent     int                       // images that it has cost
	singly    bool                      // one entry at a time, because it is not known which it was
	patience  time.Duration             // left
	allowance time.Duration
}

// New returns what is known at first: nothing.
func New() *Recovery {
	return &Recovery{
		skip: map[*journal.Entry]string{}, proven: map[*journal.Entry]bool{}, suspect: map[*journal.Entry]bool{},
		late: map[*journal.Entry]int{}, keep: map[*journal.Entry]bool{},
		patience: patience, allowance: allowance,
	}
}

// todo returns those of the entries that are to be evaluated, in this order but
// for the late ones, and notes in why those that are not.
func (r *Recovery) todo(entries []*journal.Entry, why map[*journal.Entry]string) []*journal.Entry {
	var todo, late []*journal.Entry
	for _, e := range entries {
		switch {
		case e.Bad != "":
			why[e] = e.Bad
		case r.skip[e] != "":
			why[e] = r.skip[e]
		case r.spent > maxImages && !r.proven[e] || r.spent > maxImages+5:
			r.keep[e] = true
			why[e] = fmt.Sprintf("not tried, after %d images had ended while the session was brought back", r.spent)
		case r.late[e] > 0:
			late = append(late, e)
		default:
			todo = append(todo, e)
		}
	}
	return append(todo, late...)
}

// learn notes how the entries of a batch ended, as the failures of an answer say, or,
// when the image gave none, its board.
func (r *Recovery) learn(batch []*journal.Entry, b *board, failures []Failure) {
	late := map[*journal.Entry]string{} // one that stands twice is late once
	ended := func(e *journal.Entry, code Ending, text string) {
		switch {
		case code.kind() == endDone:
			r.proven[e] = true
		case code.kind() == endHung:
			late[e] = code.words(text)
		case code.kind() == endForced:
			e.Bad = code.words(text)
		case code.final():
			r.skip[e] = code.words(text)
		}
	}
	for i, e := range batch {
		if code := Ending(b.word(boardEnds + i)); code > 0 {
			ended(e, code-1, "")
		}
	}
	for _, f := range failures {
		if f.Index >= 0 && f.Index < len(batch) { // a program may have changed what the image tells
			ended(batch[f.Index], f.End, f.Why)
		}
	}
	for e, why := range late {
		r.brokenOff(e, why)
	}
	if p, a := b.word(boardPatience), b.word(boardAllowance); p != 0 || a != 0 {
		r.patience, r.allowance = time.Duration(p)*time.Millisecond, time.Duration(a)*time.Millisecond
	}
}

// brokenOff notes that e has not ended in its time, as why says. It may only have
// needed what comes later, or the machine was at fault: so it is tried once more, and
// is kept for the next image even if that was in vain.
func (r *Recovery) brokenOff(e *journal.Entry, why string) {
	if r.late[e]++; r.late[e] >= maxTries {
		r.skip[e], r.keep[e] = why, true
	}
}

// blame notes which entry of a batch has cost the image, which ended by that, as how
// says.
func (r *Recovery) blame(batch []*journal.Entry, b *board, by Death, how string) {
	r.spent++
	r.learn(batch, b, nil)
	stuck := b.word(boardStuck) != 0
	i := int(b.word(boardEntry)) - 1
	if stuck { // it may have ended since
		i = int(b.word(boardStuck)) - 1
	}
	switch {
	case i >= 0 && i < len(batch):
	case len(batch) == 1:
		i = 0
	default:
		r.singly = true
		return
	}
	e := batch[i]
	switch {
	case by == ByUs && !stuck: // it was silent, or a caller did not wait
		r.brokenOff(e, how)
	case by == FromOutside && !r.suspect[e]:
		r.suspect[e] = true // a person may have killed the image
	default:
		e.Bad = "it cost the image: " + how
	}
}

// limit returns how long evaluating e again may take. Loading a system may mean to compile
// it. What took its time once may do so again. What took next to none is measured too coarsely
// for much of a margin.
func limit(e *journal.Entry) time.Duration {
	again := 20 * e.Took
	if e.Took < 20*time.Millisecond {
		again = 4 * e.Took
	}
	switch {
	case e.System():
		return allowance
	case computes(e):
		return again
	default:
		return max(definitionLimit, again)
	}
}

// computes reports whether evaluating e runs code of the user's. That may wait now for
// what has no value yet.
func computes(e *journal.Entry) bool {
	return e.Runs || slices.ContainsFunc(e.Keys, func(k string) bool {
		return strings.HasPrefix(k, "(:VARIABLE ") || strings.HasPrefix(k, "(:CONSTANT ")
	})
}
