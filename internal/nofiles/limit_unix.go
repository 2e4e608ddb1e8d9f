//go:build unix

package nofiles

import "syscall"

// outOfFiles are the errors of a process, and of a system, that can open no more.
var outOfFiles = []error{syscall.EMFILE, syscall.ENFILE}

// limit is how many files the process may have open; 0 is not known.
func limit() uint64 {
	var l syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l) != nil {
		return 0
	}
	return uint64(l.Cur)
}
