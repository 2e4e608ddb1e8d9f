//go:build unix

package sandbox

import (
	"os"
	"syscall"
	"time"
)

// lockCaches waits until no other server takes or removes directories in all. No image can
// reach it.
func lockCaches(all string) (unlock func(), err error) {
	f, err := os.Open(all)
	if err != nil {
		return nil, err
	}
	for {
		if err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != syscall.EINTR {
			break
		}
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return func() { _ = f.Close() }, nil
}

// share says that somebody uses the directory, until it is closed.
func share(dir *os.File) error { return syscall.Flock(int(dir.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) }

// own returns an error if somebody uses the directory.
func own(dir *os.File) error { return syscall.Flock(int(dir.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

func touch(path string) error { return os.Chtimes(path, time.Time{}, time.Now()) }
