package web

import (
	"slices"
	"strconv"
	"sync"

	"swank-mcp/people/transcript"
)

// Bounds of the notebook.
const (
	maxCells = 50_000
	maxBytes = 64 << 20 // of texts
)

// States of a cell.
const (
	stateRunning   = "running"
	stateDone      = "done"
	stateFailed    = "failed"
	stateStopped   = "stopped" // by the person
	stateSuspended = "suspended"
	stateLeft      = "left"   // goes on in the background
	stateLost      = "lost"   // the server has ended meanwhile
	stateEvent     = "event"  // no work: something that has happened
	stateGap       = "gap"    // entries are missing
	statePerson    = "person" // a person has done something
	stateLooked    = "looked" // a look-up
)

// A cell is one piece of work with all that came of it, or one other thing that has
// happened.
type cell struct {
	id      int64 // counted from 1
	version int64 // of the book, when it changed last
	state   string
	server  string           // of which server it is
	begun   transcript.Entry // what it began with; of an event its only entry
	ended   transcript.Entry // what it ended with, or nothing
	output  string           // printed while it runs
	waits   bool             // it is suspended, and waits in the debugger still
	undone  string           // what a person has put back of what it has redefined, or ""
	lost    bool             // its server has ended
	bytes   int              // of its texts
	html    string           // as it is in the list; "" when it has changed
}

// A book is the notebook: cells, oldest first.
type book struct {
	mu      sync.Mutex
	cells   []*cell
	bytes   int
	next    int64
	version int64
	running map[int64]*cell // by number of the work, of the server that is connected
	seen    int64           // number of the newest entry of that server
	server  string          // which one that is
	changed chan struct{}   // closed at the next change
}

func newBook() *book { return &book{running: map[int64]*cell{}, changed: make(chan struct{})} }

// begin says which server the entries are of that come now. It returns the number of the
// newest of them that is here, or 0.
func (b *book) begin(server string) int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.server != server {
		b.server, b.seen = server, 0
	}
	return b.seen
}

// lose says that what runs will not be heard of any more, and that nothing can be put back:
// the server has ended.
func (b *book) lose() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.running {
		c.state = stateLost
		b.touch(c)
	}
	clear(b.running)
	for _, c := range b.cells {
		if !c.lost && c.ended.Entry != 0 {
			b.touch(c)
		}
		c.lost = true
	}
}

// add takes in an entry of the transcript.
func (b *book) add(e transcript.Entry) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if e.N != 0 {
		if e.N <= b.seen {
			return
		}
		b.seen = e.N
	}
	switch e.Kind {
	case "begun":
		c := b.append(stateRunning, e)
		b.running[e.Job] = c
	case "output":
		c := b.of(e)
		c.output = clip(c.output + e.Output)
		b.touch(c)
	case "ended", "suspended", "left":
		c := b.of(e)
		c.state, c.ended = stateAfter(&e), e
		c.waits = c.state == stateSuspended
		delete(b.running, e.Job)
		b.touch(c)
	case "checkpoint":
		if e.Text != "" { // there is one after most evaluations
			b.append(stateEvent, e)
		}
	case transcript.KindLeftOut:
		b.append(stateGap, e)
	case "looked":
		b.append(stateLooked, e)
	case transcript.KindPerson, "paused", "resumed":
		b.undo(&e)
		b.append(statePerson, e)
	default:
		b.append(stateEvent, e)
	}
}

// suspended takes in which evaluations are suspended: session and number of each.
func (b *book) suspended(waits map[[2]string]bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.cells {
		if c.state != stateSuspended {
			continue
		}
		if now := waits[[2]string{c.begun.Session, strconv.Itoa(c.ended.Evaluation)}] && c.server == b.server; now != c.waits {
			c.waits = now
			b.touch(c)
		}
	}
}

// of is the cell of the work that e is of.
func (b *book) of(e transcript.Entry) *cell {
	c := b.running[e.Job]
	if c == nil {
		begun := e
		begun.Values, begun.Stdout, begun.Stderr, begun.Failure, begun.Output = nil, "", "", nil, ""
		c = b.append(stateRunning, begun)
		b.running[e.Job] = c
	}
	return c
}

func (b *book) append(state string, e transcript.Entry) *cell {
	b.next++
	c := &cell{id: b.next, state: state, begun: e, server: b.server}
	b.cells = append(b.cells, c)
	b.touch(c)
	drop := 0
	for drop < len(b.cells)-1 && (len(b.cells)-drop > maxCells || b.bytes > maxBytes) {
		b.bytes -= b.cells[drop].bytes
		b.cells[drop] = nil
		drop++
	}
	b.cells = b.cells[drop:]
	return c
}

// touch says that c has changed.
func (b *book) touch(c *cell) {
	b.version++
	c.version, c.html = b.version, ""
	bytes := len(c.output) + size(&c.begun) + size(&c.ended)
	b.bytes += bytes - c.bytes
	c.bytes = bytes
	close(b.changed)
	b.changed = make(chan struct{})
}

// undo notes of a cell what e says that a person has put back.
func (b *book) undo(e *transcript.Entry) {
	if e.Entry == 0 {
		return
	}
	for _, c := range b.cells {
		if c.ended.Entry == e.Entry && c.ended.Token == e.Token && c.server == b.server {
			c.undone = e.Text
			b.touch(c)
		}
	}
}

func size(e *transcript.Entry) int {
	n := 200 + len(e.Code) + len(e.Stdout) + len(e.Stderr) + len(e.Background) + len(e.Text) + len(e.Error)
	for _, v := range e.Values {
		n += len(v)
	}
	if e.Profile != nil {
		n += 50_000 // its functions have bounds
	}
	for _, d := range e.Redefined {
		n += len(d.Before) + len(d.After)
	}
	return n
}

func stateAfter(e *transcript.Entry) string {
	switch {
	case e.Kind == "suspended":
		return stateSuspended
	case e.Kind == "left":
		return stateLeft
	case e.Failure != nil && e.Failure.Kind == "STOPPED":
		return stateStopped
	case e.Failure != nil || e.Error != "":
		return stateFailed
	}
	return stateDone
}

// clip is the end of output that runs on: all of it comes when the work ends.
func clip(s string) string {
	const most = 20_000
	if len(s) > 2*most {
		return s[len(s)-most:]
	}
	return s
}

// before returns up to count cells before the one with that id, oldest first, and whether
// there are more before them, and the version. An id of 0 is behind the newest.
func (b *book) before(id int64, count int) (cells []cell, more bool, version int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	to := len(b.cells)
	if id > 0 {
		to, _ = slices.BinarySearchFunc(b.cells, id, byID)
	}
	from := max(0, to-count)
	return b.renderedAll(b.cells[from:to]), from > 0, b.version
}

// after is before for those after the one with that id.
func (b *book) after(id int64, count int) (cells []cell, more bool, version int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	from, _ := slices.BinarySearchFunc(b.cells, id+1, byID)
	to := min(len(b.cells), from+count)
	return b.renderedAll(b.cells[from:to]), to < len(b.cells), b.version
}

func byID(c *cell, id int64) int { return int(c.id - id) }

func (b *book) renderedAll(cells []*cell) (all []cell) {
	for _, c := range cells {
		all = append(all, b.rendered(c))
	}
	return all
}

// since returns the cells that have changed after a version, the newest of them, and the
// number of the newest cell.
func (b *book) since(version int64, most int) (cells []cell, newest, now int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range slices.Backward(b.cells) {
		if c.version > version && len(cells) < most {
			cells = append(cells, b.rendered(c))
		}
	}
	slices.Reverse(cells)
	return cells, b.next, b.version
}

// rendered is a copy of c with its HTML.
func (b *book) rendered(c *cell) cell {
	if c.html == "" {
		c.html = cellHTML(c, false)
	}
	return *c
}

// whole is the HTML of the whole cell with that id, or "".
func (b *book) whole(id int64) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	at, found := slices.BinarySearchFunc(b.cells, id, byID)
	if !found {
		return ""
	}
	return cellHTML(b.cells[at], true)
}

// profiled is what the cell with that id has ended with, if that has a profile, or nil.
func (b *book) profiled(id int64) *transcript.Entry {
	b.mu.Lock()
	defer b.mu.Unlock()
	at, found := slices.BinarySearchFunc(b.cells, id, byID)
	if !found || b.cells[at].ended.Profile == nil {
		return nil
	}
	e := b.cells[at].ended
	return &e
}

// change is closed at the next change.
func (b *book) change() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.changed
}
