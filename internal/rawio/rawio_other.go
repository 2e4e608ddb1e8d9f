//go:build unix && (!linux || 386 || s390x)

package rawio

import "syscall"

const supported = false

// Read is one read of fd, which must not block: an empty one is EAGAIN. No
// bytes and no error is the end of the input.
func Read(fd uintptr, p []byte) (int, error) {
	for {
		n, err := syscall.Read(int(fd), p)
		if err != syscall.EINTR {
			return max(n, 0), err
		}
	}
}

func write(fd uintptr, p []byte) (int, error) {
	return syscall.Write(int(fd), p)
}

func receive(fd uintptr, p []byte) (int, error) { return Read(fd, p) }

func send(fd uintptr, p []byte) (int, error) { return write(fd, p) }

func isSocket(syscall.RawConn) bool { return false }
