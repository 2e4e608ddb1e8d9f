//go:build unix && !solaris && !aix

package kept

import (
	"io/fs"
	"os"
	"syscall"
)

// lockFile locks f until unlockFile, or the end of this process, or fails at once.
func lockFile(f *os.File) error {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}

// unlockFile unlocks f and closes it. To close it alone would leave it locked while any other
// process is being started: until that runs its program, it has all files open that this one had.
func unlockFile(f *os.File) {
	_ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN)
	_ = f.Close()
}

// owned reports whether what info is of belongs to the user that we run as.
func owned(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return !ok || int(stat.Uid) == os.Geteuid()
}
