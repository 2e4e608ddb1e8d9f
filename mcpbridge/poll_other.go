//go:build !unix

package mcpbridge

import "io"

// pollableIn and pollableOut return their argument: there is nothing to gain here.
func pollableIn(in io.ReadCloser) io.ReadCloser { return in }
func pollableOut(out io.Writer) io.Writer       { return out }
