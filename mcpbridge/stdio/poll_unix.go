//go:build unix

package stdio

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// PollableIn and PollableOut give a pipe or socket that was inherited in
// blocking mode to the runtime's poller: a Close then wakes its Read, and no
// thread blocks in a system call. Anything else is returned as it is.
func PollableIn(in io.ReadCloser) io.ReadCloser {
	if p := poll(in, syscall.O_RDONLY); p != nil {
		return p
	}
	return in
}

func PollableOut(out io.Writer) io.Writer {
	if p := poll(out, syscall.O_WRONLY); p != nil {
		return p
	}
	return out
}

// poll returns nil for what is no pipe or socket. A pipe is opened once more where
// that can be done, because all duplicates of a pipe share one mode.
func poll(stream any, access int) io.ReadWriteCloser {
	f, ok := stream.(*os.File)
	if !ok {
		return nil
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) == 0 {
		return nil
	}
	raw, err := f.SyscallConn()
	if err != nil {
		return nil
	}
	if info.Mode()&fs.ModeNamedPipe != 0 {
		if own, err := reopen(raw, access); err == nil {
			return &reopened{own, f}
		}
	}
	fd := -1
	if raw.Control(func(n uintptr) { fd, err = syscall.Dup(int(n)) }) != nil || err != nil {
		return nil
	}
	syscall.CloseOnExec(fd)
	if syscall.SetNonblock(fd, true) != nil {
		_ = syscall.Close(fd)
		return nil
	}
	return &polled{os.NewFile(uintptr(fd), f.Name()), f, raw}
}

// polled is a duplicate of an inherited stream. Other processes may have the stream,
// too, and share its blocking mode: Close restores it.
type polled struct {
	io.ReadWriteCloser
	original *os.File
	raw      syscall.RawConn
}

func (p *polled) Close() error {
	// First: it waits for a Read and a Write in progress.
	err := p.ReadWriteCloser.Close()
	// Ignored: all that is lost is the mode of a pipe at its end.
	_ = p.raw.Control(func(n uintptr) { _ = syscall.SetNonblock(int(n), false) })
	if e := p.original.Close(); err == nil {
		err = e
	}
	return err
}

// reopen opens the pipe of raw once more, with a mode of its own. The mode of the
// inherited one is shared with every process that has it: an interactive shell, for
// one, sets it to blocking, and a Close would not wake a Read.
func reopen(raw syscall.RawConn, access int) (*os.File, error) {
	var own *os.File
	err := errors.ErrUnsupported
	if e := raw.Control(func(fd uintptr) {
		own, err = os.OpenFile("/proc/self/fd/"+strconv.Itoa(int(fd)), access|syscall.O_NONBLOCK, 0)
	}); e != nil {
		return nil, e
	}
	return own, err
}

// hungUp reports whether the other end of a pipe or socket is closed, whatever is still to be
// read of it. Other streams have none.
func hungUp(in any) bool {
	switch p := in.(type) {
	case *reopened:
		return hungUp(p.ReadWriteCloser)
	case *polled:
		return hungUp(p.ReadWriteCloser)
	case syscall.Conn:
		raw, err := p.SyscallConn()
		if err != nil {
			return false
		}
		asked := []unix.PollFd{{}}
		err = raw.Control(func(fd uintptr) {
			asked[0].Fd = int32(fd)
			_, _ = unix.Poll(asked, 0)
		})
		return err == nil && asked[0].Revents&unix.POLLHUP != 0
	}
	return false
}

// reopened is a pipe that is open twice.
type reopened struct {
	io.ReadWriteCloser
	inherited *os.File
}

func (r *reopened) Close() error {
	return errors.Join(r.ReadWriteCloser.Close(), r.inherited.Close())
}
