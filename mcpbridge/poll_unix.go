//go:build unix

package mcpbridge

import (
	"io"
	"io/fs"
	"os"
	"syscall"

	"swank-mcp/internal/rawio"
)

// pollableIn and pollableOut give a pipe or socket that was inherited in
// blocking mode to the runtime's poller: a Close then wakes its Read, and no
// thread waits in a system call, which must be handed its processor back.
// Anything else is returned as it is.
func pollableIn(in io.ReadCloser) io.ReadCloser {
	if p := poll(in); p != nil {
		return p
	}
	return in
}

func pollableOut(out io.Writer) io.Writer {
	if p := poll(out); p != nil {
		return p
	}
	return out
}

// poll returns nil for what is no pipe or socket.
func poll(stream any) *polled {
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
	fd := -1
	if raw.Control(func(n uintptr) { fd, err = syscall.Dup(int(n)) }) != nil || err != nil {
		return nil
	}
	syscall.CloseOnExec(fd)
	if syscall.SetNonblock(fd, true) != nil {
		_ = syscall.Close(fd)
		return nil
	}
	return &polled{rawio.New(os.NewFile(uintptr(fd), f.Name())), f, raw}
}

// polled is a duplicate of an inherited stream. The blocking mode belongs to
// the pipe, which others may hold: Close restores it.
type polled struct {
	io.ReadWriteCloser
	original *os.File
	raw      syscall.RawConn
}

func (p *polled) Close() error {
	// First: it waits for a Read and a Write in progress, which must not block.
	err := p.ReadWriteCloser.Close()
	// Ignored: all that is lost is the mode of a pipe at its end.
	_ = p.raw.Control(func(n uintptr) { _ = syscall.SetNonblock(int(n), false) })
	if e := p.original.Close(); err == nil {
		err = e
	}
	return err
}
