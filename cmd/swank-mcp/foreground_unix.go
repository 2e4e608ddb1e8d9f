//go:build unix && !solaris && !aix

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// inForeground reports whether this process may read from the terminal: one behind the
// shell would be stopped by that.
func inForeground(terminal *os.File) bool {
	group, err := unix.IoctlGetInt(int(terminal.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}
