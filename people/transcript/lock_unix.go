//go:build unix && !solaris && !aix

package transcript

import (
	"os"
	"syscall"
)

// lock locks f for as long as it is open, or fails at once.
func lock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }
