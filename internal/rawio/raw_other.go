//go:build !unix

package rawio

import (
	"errors"
	"syscall"
)

const supported = false

// Read is not to be had on this system.
func Read(uintptr, []byte) (int, error) { return 0, errors.ErrUnsupported }

func write(uintptr, []byte) (int, error) { return 0, errors.ErrUnsupported }

func receive(uintptr, []byte) (int, error) { return 0, errors.ErrUnsupported }

func send(uintptr, []byte) (int, error) { return 0, errors.ErrUnsupported }

func isSocket(syscall.RawConn) bool { return false }
