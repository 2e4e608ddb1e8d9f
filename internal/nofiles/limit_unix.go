//go:build unix

package nofiles

import "syscall"

// outOfFiles are the errors of a process, and of a system, that can open no more.
var outOfFiles = []error{syscall.EMFILE, syscall.ENFILE}

// limit returns the number of files that the process may have open; 0 says that it is not known.
func limit() uint64 {
	var l syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l) != nil {
		return 0
	}
	return uint64(l.Cur)
}
