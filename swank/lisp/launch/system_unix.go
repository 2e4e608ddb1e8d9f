//go:build unix

package launch

import "syscall"

// canLaunch reports whether images can be started on this system.
const canLaunch = true

// CanCopy reports whether a process can be copied on this system.
const CanCopy = true

// lowerPriority makes pid yield to others, but not so that a busy machine starves it: the
// end of a server waits for what is being saved. It is a courtesy: a system that refuses
// it builds the core a little faster.
func lowerPriority(pid int) {
	if ours, err := priority(); err == nil {
		_ = syscall.Setpriority(syscall.PRIO_PROCESS, pid, min(19, ours+5))
	}
}

// freeBytes returns how much can be written to the disk of dir.
func freeBytes(dir string) (int64, bool) {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return 0, false
	}
	return int64(fs.Bavail) * int64(fs.Bsize), true
}

// readNow is one read of fd, which does not block: an empty one is EAGAIN. No bytes
// and no error is the end of the input.
func readNow(fd int, p []byte) (int, error) {
	for {
		n, err := syscall.Read(fd, p)
		if err != syscall.EINTR {
			return max(n, 0), err
		}
	}
}
