package launch

import (
	"errors"
	"os"
	"strings"
	"sync"
	"syscall"
	"unicode/utf8"

	"swank-mcp/swank/lisp/host"
)

// Bounds of what is kept of an image's file descriptors 1 and 2.
const (
	keepHead = 32 << 10 // bytes of background output from its beginning
	keepTail = 32 << 10 // bytes from its end
	keepLast = 8 << 10  // bytes of standard error for the report of a death
	readSize = 64 << 10 // one read; a pipe holds as much unless enlarged
)

// tail keeps the last max bytes written to it, cut between characters. Its zero value
// but for max is empty. It is not safe for concurrent use.
type tail struct {
	max     int
	buf     []byte // up to 2*max, so that most writes only append; begins at a character
	dropped int64  // characters that were written before buf
}

func (t *tail) write(b []byte) {
	t.buf = append(t.buf, b...)
	if len(t.buf) > 2*t.max {
		cut := t.excess()
		t.dropped += int64(utf8.RuneCount(t.buf[:cut]))
		t.buf = append(t.buf[:0], t.buf[cut:]...)
	}
}

// take returns the last max bytes, beginning at a character, and the number of
// characters left out before them.
func (t *tail) take() (string, int64) {
	cut := t.excess()
	return strings.ToValidUTF8(string(t.buf[cut:]), "\uFFFD"), t.dropped + int64(utf8.RuneCount(t.buf[:cut]))
}

// excess returns the length of what is too much at the beginning of the buffer. A
// character that max cuts is all of it too much: half of one is shown as none that was written.
func (t *tail) excess() int {
	cut := max(0, len(t.buf)-t.max)
	begin := runeBegin(t.buf, cut)
	if begin == cut {
		return cut
	}
	_, size := utf8.DecodeRune(t.buf[begin:])
	return begin + size
}

// runeBegin returns where the character begins that has b[i], i itself if i is at a
// beginning, at the end, or in no valid character.
func runeBegin(b []byte, i int) int {
	if i == len(b) || utf8.RuneStart(b[i]) {
		return i
	}
	for begin := i - 1; begin >= max(0, i-utf8.UTFMax+1); begin-- {
		if !utf8.RuneStart(b[begin]) {
			continue
		}
		if _, size := utf8.DecodeRune(b[begin:]); begin+size > i {
			return begin
		}
		break
	}
	return i
}

// sink collects text from several pipes in the order in which it was read and
// keeps its beginning and its end.
type sink struct {
	keep int // bytes of the beginning

	mu   sync.Mutex
	head []byte
	full bool // head takes no more: what comes now goes to the tail
	tail tail
}

// newSink returns one that keeps at most that many bytes of the beginning and of the end.
func newSink(head, end int) *sink { return &sink{keep: head, tail: tail{max: end}} }

// write takes b, which begins and ends between characters.
func (s *sink) write(b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.full {
		n := runeBegin(b, min(len(b), s.keep-len(s.head)))
		s.head = append(s.head, b[:n]...)
		b = b[n:]
		s.full = len(b) > 0
	}
	if len(b) > 0 {
		s.tail.write(b)
	}
}

// take returns what was written since the last take.
func (s *sink) take() host.Text {
	s.mu.Lock()
	defer s.mu.Unlock()
	head := strings.ToValidUTF8(string(s.head), "\uFFFD")
	end, omitted := s.tail.take()
	s.head, s.full, s.tail = s.head[:0], false, tail{max: s.tail.max}
	if omitted == 0 {
		return host.Text{Head: head + end}
	}
	return host.Text{Head: head, Tail: end, Omitted: omitted}
}

// drain empties one pipe for ever: a pipe that is not read stops the whole
// image, not only the thread that prints.
type drain struct {
	file *os.File // read end, non-blocking, in the runtime's poller
	sink func([]byte)
	done chan struct{} // closed when run has returned

	mu     sync.Mutex // held from a read until its bytes are in the sink
	fd     int        // -1 after the end
	rest   []byte     // an unfinished character
	closed bool
}

// readBuffers are for all drains: most pipes have nothing to say most of the time.
var readBuffers = sync.Pool{New: func() any { return new([readSize + utf8.UTFMax]byte) }}

// newDrain takes over r and calls sink with what comes, cut at the ends of
// characters, from one goroutine at a time. The owner calls close.
func newDrain(r *os.File, sink func([]byte)) (*drain, error) {
	d := &drain{file: r, sink: sink, done: make(chan struct{})}
	raw, err := r.SyscallConn()
	if err != nil {
		return nil, err
	}
	if err := raw.Control(func(fd uintptr) { d.fd = int(fd) }); err != nil {
		return nil, err
	}
	go func() {
		defer close(d.done)
		// The function returns false to wait until the pipe is readable.
		_ = raw.Read(func(uintptr) bool { return d.step(-1) })
	}()
	return d, nil
}

// step reads what is there, at most limit bytes or so unless limit is
// negative, and reports whether the pipe has come to its end.
func (d *drain) step(limit int) (ended bool) {
	for read := 0; limit < 0 || read < limit; {
		n, again := d.readOnce()
		if n <= 0 {
			return !again
		}
		read += n
	}
	return false
}

// readOnce does one read. No bytes and again means that the pipe is empty.
func (d *drain) readOnce() (n int, again bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed || d.fd < 0 {
		return 0, false
	}
	buf := readBuffers.Get().(*[readSize + utf8.UTFMax]byte)
	defer readBuffers.Put(buf)
	carry := copy(buf[:], d.rest)
	n, err := readNow(d.fd, buf[carry:])
	switch {
	case errors.Is(err, syscall.EAGAIN):
		return 0, true
	case err != nil || n <= 0:
		d.flush(buf[:carry], true)
		d.fd = -1
		return 0, false
	}
	d.flush(buf[:carry+n], false)
	return n, true
}

// flush hands text to the sink, without a character that has only begun
// unless at the end.
func (d *drain) flush(text []byte, end bool) {
	whole := len(text)
	if !end {
		whole = wholeRunes(text)
	}
	if whole > 0 {
		d.sink(text[:whole])
	}
	d.rest = append(d.rest[:0], text[whole:]...)
}

// wholeRunes returns the length of b without the first bytes of a character
// that may be completed by what follows.
func wholeRunes(b []byte) int {
	for i := 1; i <= min(utf8.UTFMax-1, len(b)); i++ {
		if c := b[len(b)-i]; utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(b[len(b)-i:]) {
				return len(b) - i
			}
			break
		}
	}
	return len(b)
}

// settle returns when everything that was in the pipe when it was called is in
// the sink. Reading under the lock, it neither waits nor asks how much is
// there: an empty pipe costs one failing read. The limit keeps a writer that
// never stops from holding it.
func (d *drain) settle() { d.step(2 * readSize) }

// close ends the goroutine and closes the pipe; its writers then get SIGPIPE.
func (d *drain) close() {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	_ = d.file.Close()
	<-d.done
}
