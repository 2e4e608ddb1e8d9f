// Package rawio reads and writes descriptors that never block, without telling
// the Go scheduler that a system call is under way.
//
// A program that waits most of the time, and does four short system calls for
// each message it passes on, pays more for the telling than for the calls: each
// announcement wakes the runtime's monitor thread, which then looks on every
// 20 µs whether the call has taken too long. On a machine of two processors
// that made an evaluation a quarter slower. A call that cannot block needs no
// monitor.
package rawio

import (
	"io"
	"syscall"
)

// file is a descriptor in the runtime's poller. Read and Write may be called at
// the same time, each by one goroutine.
type file struct {
	raw    syscall.RawConn
	closer io.Closer
	in     transfer
	out    transfer
}

// transfer is one Read or Write; it is kept so that none allocates.
type transfer struct {
	buf  []byte
	n    int
	err  error
	call func(fd uintptr) (done bool)
}

// New returns c with raw reads and writes, or c itself where this system has
// none or c is not in the poller. Closing it closes c.
//
// A call that blocks all the same stops the whole program. A socket never does,
// whoever makes its descriptor a blocking one; of anything else the mode must be
// nobody else's to change.
func New[C interface {
	io.ReadWriteCloser
	syscall.Conn
}](c C) io.ReadWriteCloser {
	raw, err := c.SyscallConn()
	if err != nil || !supported {
		return c
	}
	f := &file{raw: raw, closer: c}
	read, write := Read, write
	if isSocket(raw) {
		read, write = receive, send
	}
	f.in.call = func(fd uintptr) bool {
		f.in.n, f.in.err = read(fd, f.in.buf)
		return f.in.err != syscall.EAGAIN
	}
	f.out.call = func(fd uintptr) bool {
		for f.out.n < len(f.out.buf) {
			n, err := write(fd, f.out.buf[f.out.n:])
			if err != nil {
				f.out.err = err
				return err != syscall.EAGAIN
			}
			f.out.n += n
		}
		f.out.err = nil
		return true
	}
	return f
}

// Read implements [io.Reader].
func (f *file) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	f.in.buf = p
	err := f.raw.Read(f.in.call)
	f.in.buf = nil
	switch {
	case err != nil:
		return 0, err
	case f.in.err != nil:
		return 0, f.in.err
	case f.in.n == 0:
		return 0, io.EOF
	}
	return f.in.n, nil
}

// Write implements [io.Writer].
func (f *file) Write(p []byte) (int, error) {
	f.out.buf, f.out.n = p, 0
	err := f.raw.Write(f.out.call)
	f.out.buf = nil
	if err == nil {
		err = f.out.err
	}
	return f.out.n, err
}

// Close implements [io.Closer]; it ends a Read and a Write in progress.
func (f *file) Close() error { return f.closer.Close() }
