package transcript

import (
	"context"
	"io"
	"sync"
)

// Line is an entry as a line of JSON.
type Line struct {
	N       int64 // of the entry; 0 of one that says what is left out
	Session string
	Kind    string
	Text    []byte // without the end of the line; not to be changed
}

// maxMemory is how many bytes of entries are kept in memory.
const maxMemory = 2 << 20

// ring has the newest lines.
type ring struct {
	mu     sync.Mutex
	lines  []Line // oldest first
	bytes  int
	writer writer
	next   int64         // number of the next line, less one
	more   chan struct{} // closed when there are more
	closed bool
}

// add gives the entries their numbers and adds them.
func (r *ring) add(entries []Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || len(entries) == 0 {
		return
	}
	for i := range entries {
		r.next++
		entries[i].N = r.next
		line := Line{r.next, entries[i].Session, entries[i].Kind, r.writer.line(&entries[i])}
		r.lines = append(r.lines, line)
		r.bytes += len(line.Text)
	}
	drop := 0
	for ; r.bytes > maxMemory && drop < len(r.lines)-1; drop++ {
		r.bytes -= len(r.lines[drop].Text)
		r.lines[drop] = Line{}
	}
	r.lines = r.lines[drop:]
	r.wake()
}

// wake has readers look again. r.mu is held.
func (r *ring) wake() {
	if r.more != nil {
		close(r.more)
		r.more = nil
	}
}

func (r *ring) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	r.wake()
}

// A Reader reads the entries of a [Transcript] in their order. It belongs to one goroutine.
type Reader struct {
	ring *ring
	read int64 // number of the last one
}

// after returns a reader of what comes after entry n, or of the last ones if last is 0 or
// more.
func (r *ring) after(n int64, last int) *Reader {
	r.mu.Lock()
	defer r.mu.Unlock()
	if last >= 0 {
		n = max(r.next-int64(last), r.next-int64(len(r.lines)))
	}
	return &Reader{r, min(n, r.next)}
}

// atOnce is how many lines are read at once.
const atOnce = 500

// Next waits for the next lines, and tells how many are missing before them. The error is
// io.EOF at the end of the transcript, or the cause of ctx.
func (d *Reader) Next(ctx context.Context) (lines []Line, missed int64, err error) {
	r := d.ring
	for {
		r.mu.Lock()
		if first := r.next - int64(len(r.lines)); d.read < first {
			missed += first - d.read
			d.read = first
		}
		if d.read < r.next {
			at := len(r.lines) - int(r.next-d.read)
			lines = append(lines, r.lines[at:min(len(r.lines), at+atOnce)]...)
			d.read += int64(len(lines))
		}
		closed := r.closed
		if r.more == nil {
			r.more = make(chan struct{})
		}
		more := r.more
		r.mu.Unlock()
		switch {
		case len(lines) > 0:
			return lines, missed, nil
		case closed:
			return nil, missed, io.EOF
		}
		select {
		case <-more:
		case <-ctx.Done():
			return nil, missed, context.Cause(ctx)
		}
	}
}
