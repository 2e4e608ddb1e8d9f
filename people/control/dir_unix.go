//go:build unix && !solaris && !aix

package control

import (
	"io/fs"
	"os"
	"syscall"
	"time"
)

// private reports whether what info is of is ours, and nobody else can enter it.
func private(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid() && info.Mode().Perm()&0o077 == 0
}

// lockDir locks dir, and returns what unlocks it. It waits a little for others, who need it
// for a moment only.
func lockDir(dir string) (unlock func(), err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	for end := time.Now().Add(lockPatience); ; time.Sleep(5 * time.Millisecond) {
		if err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == nil {
			return func() { f.Close() }, nil
		}
		if time.Now().After(end) {
			f.Close()
			return nil, err
		}
	}
}

const lockPatience = time.Second
