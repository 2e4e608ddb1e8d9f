//go:build unix

package files

import "syscall"

const (
	// careful has the system follow no link, and not wait for the other end of a pipe.
	careful = syscall.O_NOFOLLOW | waitless
	// waitless has the system not wait for the other end of a pipe.
	waitless = syscall.O_NONBLOCK
	// directory has the system open nothing else.
	directory = syscall.O_DIRECTORY
)
