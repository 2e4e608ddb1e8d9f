//go:build unix && !solaris && !aix

package kept

import (
	"io/fs"
	"os"
	"syscall"
)

// lockFile locks f for as long as it is open, or fails at once.
func lockFile(f *os.File) error {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}

// owned reports whether what info is of belongs to the user that we run as.
func owned(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return !ok || int(stat.Uid) == os.Geteuid()
}
