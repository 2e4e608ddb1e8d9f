//go:build !386 && !s390x

package rawio

import (
	"syscall"
	"unsafe"
)

const supported = true

// Read is one read of fd, which must not block: an empty one is EAGAIN. No
// bytes and no error is the end of the input.
func Read(fd uintptr, p []byte) (int, error) {
	return call(syscall.SYS_READ, fd, p, 0)
}

func write(fd uintptr, p []byte) (int, error) {
	return call(syscall.SYS_WRITE, fd, p, 0)
}

// receive and send are the same for a socket, also one in blocking mode.
func receive(fd uintptr, p []byte) (int, error) {
	return call(syscall.SYS_RECVFROM, fd, p, syscall.MSG_DONTWAIT)
}

func send(fd uintptr, p []byte) (int, error) {
	return call(syscall.SYS_SENDTO, fd, p, syscall.MSG_DONTWAIT|syscall.MSG_NOSIGNAL)
}

// call leaves out what a call with fewer arguments does not look at.
func call(trap, fd uintptr, p []byte, flags uintptr) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for {
		n, _, errno := syscall.RawSyscall6(trap, fd, uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)), flags, 0, 0)
		switch errno {
		case 0:
			return int(n), nil
		case syscall.EINTR:
		default:
			return 0, errno
		}
	}
}

func isSocket(raw syscall.RawConn) bool {
	var info syscall.Stat_t
	var err error
	if raw.Control(func(fd uintptr) { err = syscall.Fstat(int(fd), &info) }) != nil || err != nil {
		return false
	}
	return info.Mode&syscall.S_IFMT == syscall.S_IFSOCK
}
