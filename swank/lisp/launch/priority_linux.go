package launch

import "syscall"

// priority returns how much this process leaves to others: 0 to 19, or less than 0.
func priority() (int, error) {
	n, err := syscall.Getpriority(syscall.PRIO_PROCESS, 0)
	return 20 - n, err // the system call has no negative result
}
