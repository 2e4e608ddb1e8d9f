package launch

import (
	"os"
	"sync"
)

// A line is an image that we started, its copies, and the images that have come of
// these: what they share, and what is released when the last one is not wanted any more.
// They have the output pipes of the first image, so what any of them prints is drained
// here, and its lifetime pipe, at whose end an image ends itself. [Process.End] ends one
// image and leaves the line; [Process.Close] ends the line.
type line struct {
	image    *imageFiles
	runDir   string      // private directory of the sockets
	held     *os.File    // by which runDir is ours, or nil
	lifetime *os.File    // write end: each image ends when it is closed
	secret   string      // that each image asks of us, or ""
	first    imageStatus // what the image that we started said of itself

	out, err *drain
	printed  *sink
	flushed  *flushed // before it
	last     struct {
		sync.Mutex
		tail
		written int64 // bytes in all
	}

	wrapped *Wrapped // the first image, if it is in a sandbox

	calls     calls
	closeOnce sync.Once
}

// newLine returns a line whose images end with lifetime and write to out and err.
func newLine(lifetime, out, err *os.File) (_ *line, problem error) {
	l := &line{lifetime: lifetime, printed: newSink(keepHead, keepTail)}
	l.last.max = keepLast
	l.flushed = newFlushed(l.printed.write)
	if l.out, problem = newDrain(out, l.flushed.write); problem != nil {
		return nil, problem
	}
	if l.err, problem = newDrain(err, l.standardError); problem != nil {
		l.out.close()
		return nil, problem
	}
	return l, nil
}

func (l *line) standardError(b []byte) {
	l.printed.write(b)
	l.last.Lock()
	l.last.write(b)
	l.last.written += int64(len(b))
	l.last.Unlock()
}

// errorsSoFar is how many bytes of standard error the images have written.
func (l *line) errorsSoFar() int64 {
	l.err.settle()
	l.last.Lock()
	defer l.last.Unlock()
	return l.last.written
}

// hangUp lets every image of the line know that it is to end.
func (l *line) hangUp() {
	_ = l.lifetime.Close()
	l.calls.hangUp()
}

// release kills the copies and releases the rest when they have ended.
func (l *line) release() {
	l.calls.end()
	l.out.close()
	l.err.close()
	if l.runDir != "" {
		_ = os.RemoveAll(l.runDir)
	}
	l.wrapped.end()
	_ = l.held.Close()
}
