//go:build !unix

package sandbox

import (
	"errors"
	"os"
)

// Nothing is locked here, and so nothing is removed: there is no sandbox.
func lockCaches(string) (unlock func(), err error) { return func() {}, nil }
func share(*os.File) error                         { return errors.ErrUnsupported }
func own(*os.File) error                           { return errors.ErrUnsupported }
func touch(string) error                           { return errors.ErrUnsupported }
