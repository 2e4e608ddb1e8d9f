package launch

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"unsafe"
)

// pidfdOpen is the number of that system call, on all processors; see pidfd_open(2).
const pidfdOpen = 434

// awaitEnd returns when the process has ended, or at once if this system cannot tell that but
// to a thread that waits for it. There may be thousands of images and copies of them, and Go
// runs with ten thousand threads at most.
func awaitEnd(pid int) { seeEnd(pid, nil) }

// seeEnd returns true when the process has ended, and false when over is closed before, or at
// once if this system cannot tell.
func seeEnd(pid int, over <-chan struct{}) (ended bool) {
	fd, _, failed := syscall.Syscall(pidfdOpen, uintptr(pid), syscall.O_NONBLOCK, 0)
	if failed != 0 {
		return failed == syscall.ESRCH
	}
	file := os.NewFile(fd, "process")
	seen := make(chan struct{})
	defer close(seen)
	go func() { // what reads a file sees that it is closed
		select {
		case <-over:
		case <-seen:
		}
		_ = file.Close()
	}()
	conn, err := file.SyscallConn()
	return err == nil && conn.Read(readable) == nil // it can be read when the process has ended
}

// parentOf returns the parent of a process, 0 if there is no such process.
func parentOf(pid int) (parent int) {
	_, parent, _ = statOf(strconv.Itoa(pid))
	return parent
}

// statOf returns what proc(5) says of a process: its state, "" if there is none, its parent and
// its group.
func statOf(pid string) (state string, parent, group int) {
	stat, _ := os.ReadFile("/proc/" + pid + "/stat")
	if _, err := fmt.Sscan(string(stat[bytes.LastIndexByte(stat, ')')+1:]), &state, &parent, &group); err != nil {
		return "", 0, 0
	}
	return state, parent, group
}

// children calls see for each of our children, with its process and what statOf says of it.
func children(see func(pid int, state string, group int)) {
	lists, _ := filepath.Glob("/proc/self/task/[0-9]*/children")
	for _, list := range lists {
		text, _ := os.ReadFile(list)
		for _, child := range strings.Fields(string(text)) {
			state, _, group := statOf(child)
			if pid, err := strconv.Atoi(child); err == nil && state != "" {
				see(pid, state, group)
			}
		}
	}
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
