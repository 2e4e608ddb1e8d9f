//go:build !unix

package rawio

import "errors"

const supported = false

// Read is not to be had on this system.
func Read(uintptr, []byte) (int, error) { return 0, errors.ErrUnsupported }

func write(uintptr, []byte) (int, error) { return 0, errors.ErrUnsupported }
