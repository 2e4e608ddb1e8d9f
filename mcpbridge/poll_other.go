//go:build !unix

package mcpbridge

import "io"

// There is nothing to gain here.
func pollableIn(in io.ReadCloser) io.ReadCloser { return in }
func pollableOut(out io.Writer) io.Writer       { return out }
