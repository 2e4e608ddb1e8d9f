package lisp

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// suspensions are the evaluations of a session that wait in the debugger, by
// the numbers that its users know them by. A number is never used again. Any
// goroutine may use it.
type suspensions struct {
	mu   sync.Mutex
	last int
	live []*suspended   // oldest first
	gone map[int]string // what became of the others, of the newest

	silent []*suspended // that have ended, and the image has yet to tell how; the newest
}

// suspended is one evaluation that waits in the debugger, or runs on from there.
type suspended struct {
	number  int
	job     int64 // its number among jobs
	token   int64
	inst    *instance
	code    string // its beginning, one line
	failure string // type of the condition it waits at
	timeout time.Duration
	tests   testRun // that it runs, if it does
}

// Suspended is an evaluation that waits in the debugger.
type Suspended struct {
	Number  int
	Code    string        // its beginning, one line
	Failure string        // type of the condition it waits at
	Age     time.Duration // since it was suspended; 0 if not known
}

// Suspension is what the reply of an evaluation says of its being suspended.
type Suspension struct {
	Number   int
	Step     bool          // it waits at a step, not at an error
	Limit    time.Duration // it is aborted when nothing has been done with it so long
	Restarts []Restart     // by number
}

// Restart is a way on from an error.
type Restart struct {
	_      struct{} `sexp:",list"`
	Name   string   // "" for one without
	Text   string   // what it does
	Values bool     // it wants values
}

// DebuggerError is a call about a suspended evaluation that there is not, or that
// takes no commands at the moment.
type DebuggerError struct {
	Number    int         // asked for; 0 if none was named
	Why       string      // what became of it, or why it takes none; "" if there never was one
	Occupied  bool        // it is there, and the same call will work later
	Suspended []Suspended // those that there are
}

func (e *DebuggerError) Error() string {
	if e.Occupied {
		return fmt.Sprintf("lisp: evaluation %d takes no commands: %s", e.Number, e.Why)
	}
	if e.Number == 0 {
		return fmt.Sprintf("lisp: %d evaluations are suspended", len(e.Suspended))
	}
	return fmt.Sprintf("lisp: evaluation %d is not suspended: %s", e.Number, e.Why)
}

func (s *suspended) public(age time.Duration) Suspended {
	return Suspended{Number: s.number, Code: s.code, Failure: s.failure, Age: age}
}

// keptGone is of how many that are gone it is known why.
const keptGone = 100

// add notes that e waits at a failure and returns what is known of it.
func (q *suspensions) add(e *evaluation, failure string) *suspended {
	q.mu.Lock()
	defer q.mu.Unlock()
	if e.target != nil && slices.Contains(q.live, e.target) {
		e.target.failure = failure
		return e.target
	}
	number := e.number
	if number == 0 {
		q.last++
		number = q.last
	}
	s := &suspended{
		number: number, job: e.job.number, token: e.token, inst: e.inst, code: firstLine(cmp.Or(e.r.Code, e.job.code), 80), failure: failure, timeout: e.r.Timeout,
		tests: e.job.tests,
	}
	q.live = append(q.live, s)
	return s
}

// next returns a number that no evaluation has had.
func (q *suspensions) next() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.last++
	return q.last
}

// suspend notes that e is suspended, as a says, and returns what its reply says of that.
func (q *suspensions) suspend(e *evaluation, a *wireAnswer) *Suspension {
	failure := ""
	if a.Error != nil {
		failure = a.Error.Type
	}
	s, w := q.add(e, failure), a.Suspended
	return &Suspension{Number: s.number, Step: w.Stepping, Limit: e.im.cfg.SuspendLimit, Restarts: w.Restarts}
}

// pick returns the one of that number, or the only one for 0.
func (q *suspensions) pick(number int) (*suspended, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if number == 0 && len(q.live) == 1 {
		number = q.live[0].number
	}
	bad := &DebuggerError{Number: number, Why: q.gone[number]}
	for _, s := range q.live {
		if s.number != number {
			bad.Suspended = append(bad.Suspended, s.public(0))
			continue
		}
		if !s.inst.over() {
			return s, nil
		}
		bad.Why = "it was lost with " + s.inst.whatEnds()
	}
	return nil, bad
}

// find returns the one with that token, or nil.
func (q *suspensions) find(token int64) *suspended {
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := index(q.live, token); i >= 0 {
		return q.live[i]
	}
	return nil
}

func index(all []*suspended, token int64) int {
	return slices.IndexFunc(all, func(s *suspended) bool { return s.token == token })
}

// endSilently notes that s has ended, as a call has found out; the image tells how with the
// next answer of an evaluation.
func (q *suspensions) endSilently(s *suspended) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := index(q.live, s.token); i >= 0 {
		q.live = slices.Delete(q.live, i, i+1)
		q.silent = append(q.silent, s)
		q.silent = q.silent[max(0, len(q.silent)-keptGone):]
		q.note(s.number, "it has ended; the next reply of an evaluation tells how")
	}
}

// end notes what became of the one with that token, and returns it, or nil.
func (q *suspensions) end(token int64, why string) *suspended {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, from := range []*[]*suspended{&q.live, &q.silent} {
		if i := index(*from, token); i >= 0 {
			s := (*from)[i]
			*from = slices.Delete(*from, i, i+1)
			q.note(s.number, why)
			return s
		}
	}
	return nil
}

// note keeps what became of the one of that number.
func (q *suspensions) note(number int, why string) {
	if q.gone == nil {
		q.gone = map[int]string{}
	}
	q.gone[number] = why
	delete(q.gone, number-keptGone)
}

// clear ends all of them and returns them.
func (q *suspensions) clear(why string) []*suspended {
	all := q.all()
	for _, s := range all {
		q.end(s.token, why)
	}
	return all
}

func (q *suspensions) all() []*suspended {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Clone(q.live)
}

// lost ends those that waited in the image inst, which is over, and names them
// in a sentence to append, "" if there were none. In an image that is attached
// to, the end of the connection has ended them, whether or not it lives on.
func (q *suspensions) lost(inst *instance) string {
	q.loseSilent(inst)
	var names []string
	for _, s := range q.all() {
		if s.inst == inst {
			q.end(s.token, "it was lost with "+inst.whatEnds()+": "+inst.epitaph())
			names = append(names, fmt.Sprintf("%d (%s)", s.number, s.code))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return " Suspended evaluations that were lost with " + inst.whatEnds() + ": " + strings.Join(names, ", ") + "."
}

// loseSilent notes that nobody tells any more how those have ended that the image inst had yet
// to tell of.
func (q *suspensions) loseSilent(inst *instance) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.silent = slices.DeleteFunc(q.silent, func(s *suspended) bool {
		if s.inst == inst {
			q.note(s.number, "it has ended; how, was lost with "+inst.whatEnds())
		}
		return s.inst == inst
	})
}
