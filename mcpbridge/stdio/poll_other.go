//go:build !unix

package stdio

import "io"

// PollableIn and PollableOut return their argument: there is nothing to gain here.
func PollableIn(in io.ReadCloser) io.ReadCloser { return in }
func PollableOut(out io.Writer) io.Writer       { return out }

// hungUp returns false: it is not known.
func hungUp(any) bool { return false }
