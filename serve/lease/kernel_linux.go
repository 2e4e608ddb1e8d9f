package lease

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

// kernel names the kernel and the file system that f is in as this process sees them, "" if
// that is not known. Processes for which it is the same have each other's locks of files.
func kernel(f *os.File) string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	info, statErr := f.Stat()
	if err != nil || statErr != nil {
		return ""
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%s-%x", strings.TrimSpace(string(boot)), stat.Dev)
}

// hold locks f for as long as this process has it open.
func hold(f *os.File) error {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}

// held reports whether a process holds f.
func held(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) != nil
}
