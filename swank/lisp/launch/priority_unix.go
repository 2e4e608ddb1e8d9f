//go:build unix && !linux

package launch

import "syscall"

// priority returns how much this process leaves to others: 0 to 19, or less than 0.
func priority() (int, error) { return syscall.Getpriority(syscall.PRIO_PROCESS, 0) }
