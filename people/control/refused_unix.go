//go:build unix

package control

import (
	"errors"
	"syscall"
)

// refused reports whether err says that nobody listens at a socket that is there.
func refused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }
