//go:build !unix

package mcpbridge

import "io"

// pollable has nothing to gain here.
func pollable(in io.ReadCloser) io.ReadCloser { return in }
