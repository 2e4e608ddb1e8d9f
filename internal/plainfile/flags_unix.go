//go:build unix

package plainfile

import "syscall"

// careful has the system follow no link, and not wait for the other end of a pipe.
const careful = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
