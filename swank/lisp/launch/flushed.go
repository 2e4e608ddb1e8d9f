package launch

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
)

// The helper writes what an evaluation has flushed to the image's descriptor 1, too, so
// that it is here when the image dies without an answer. A record is written at once:
// recordBegin, the number of the evaluation, the stream, a unit separator, text, recordEnd.
// See the helper's core/flushed.lisp.
const (
	recordBegin = "\x1eswank-mcp-flushed "
	recordEnd   = '\x1e'
	maxRecord   = 4096      // what a pipe takes as a whole
	maxFlushed  = 16        // evaluations of which text is kept, the newest
	keepFlushed = 128 << 10 // bytes of one stream: the helper sends 30,000 characters, other code as many as it likes
)

// flushed takes the records out of what an image writes, and passes on the rest.
type flushed struct {
	pass func([]byte)
	held []byte // a record that has not come to its end

	mu    sync.Mutex
	texts map[string]*strings.Builder // by evaluation and stream
	order []string                    // their keys, the oldest first
}

func newFlushed(pass func([]byte)) *flushed {
	return &flushed{pass: pass, texts: make(map[string]*strings.Builder)}
}

func (f *flushed) write(b []byte) {
	if len(f.held) == 0 && bytes.IndexByte(b, recordBegin[0]) < 0 {
		f.pass(b)
		return
	}
	b = append(f.held, b...)
	f.held = nil
	for len(b) > 0 {
		begin := bytes.IndexByte(b, recordBegin[0])
		if begin < 0 {
			begin = len(b)
		}
		if begin > 0 {
			f.pass(b[:begin])
			b = b[begin:]
			continue
		}
		rest, whole := bytes.CutPrefix(b, []byte(recordBegin))
		end := bytes.IndexByte(rest, recordEnd)
		switch {
		case whole && end >= 0:
			f.keep(rest[:end])
			b = rest[end+1:]
		case len(b) < maxRecord && (whole || strings.HasPrefix(recordBegin, string(b))):
			f.held = bytes.Clone(b)
			return
		default: // it only looks like one
			f.pass(b[:1])
			b = b[1:]
		}
	}
}

func (f *flushed) keep(record []byte) {
	key, text, ok := strings.Cut(string(record), "\x1f")
	if !ok {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.texts[key] == nil {
		f.texts[key] = new(strings.Builder)
		if f.order = append(f.order, key); len(f.order) > 2*maxFlushed {
			delete(f.texts, f.order[0])
			f.order = f.order[1:]
		}
	}
	if f.texts[key].Len()+len(text) <= keepFlushed {
		f.texts[key].WriteString(strings.ToValidUTF8(text, "\uFFFD"))
	}
}

// Flushed returns what the evaluation of that number has flushed of its output and of its
// error output, from the beginning; of a long one not all.
func (l *line) Flushed(evaluation int64) (out, err string) {
	l.out.settle()
	l.flushed.mu.Lock()
	defer l.flushed.mu.Unlock()
	text := func(stream string) string {
		if b := l.flushed.texts[fmt.Sprintf("%d %s", evaluation, stream)]; b != nil {
			return b.String()
		}
		return ""
	}
	return text("out"), text("err")
}
