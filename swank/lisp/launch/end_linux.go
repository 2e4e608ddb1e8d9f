package launch

import (
	"os"
	"syscall"
	"unsafe"
)

// pidfdOpen is the number of that system call, on all processors; see pidfd_open(2).
const pidfdOpen = 434

// awaitEnd returns when the process has ended, or at once if this system cannot tell that but
// to a thread that waits for it. There may be thousands of images and copies of them, and Go
// runs with ten thousand threads at most.
func awaitEnd(pid int) {
	fd, _, failed := syscall.Syscall(pidfdOpen, uintptr(pid), syscall.O_NONBLOCK, 0)
	if failed != 0 {
		return
	}
	file := os.NewFile(fd, "process")
	defer file.Close()
	conn, err := file.SyscallConn()
	if err != nil {
		return
	}
	_ = conn.Read(readable) // it can be read when the process has ended
}

// readable reports whether something can be read of a descriptor, or it is not known; see
// poll(2).
func readable(fd uintptr) bool {
	const input = 1 // POLLIN
	asked := struct {
		fd             int32
		events, result int16
	}{int32(fd), input, 0}
	n, _, failed := syscall.Syscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&asked)), 1, uintptr(unsafe.Pointer(&syscall.Timespec{})), 0, 0, 0)
	return failed != 0 || n > 0
}
