//go:build !unix

package launch

import "errors"

// What an image needs of the system is not to be had here; one that runs can be
// attached to.
const canLaunch = false

// CanCopy reports whether a process can be copied on this system.
const CanCopy = false

func lowerPriority(int) {}

func freeBytes(string) (int64, bool) { return 0, false }

func readNow(int, []byte) (int, error) { return 0, errors.ErrUnsupported }
