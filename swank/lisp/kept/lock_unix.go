//go:build unix && !solaris && !aix

package kept

import (
	"os"
	"syscall"
)

// lockFile locks f for as long as it is open, or fails at once.
func lockFile(f *os.File) error {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}
