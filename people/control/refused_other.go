//go:build !unix

package control

import (
	"errors"
	"os"
)

// refused reports whether err is not about time: nobody listens then.
func refused(err error) bool { return !errors.Is(err, os.ErrDeadlineExceeded) }
