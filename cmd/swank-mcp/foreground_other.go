//go:build !unix || solaris || aix

package main

import "os"

// inForeground reports true: nothing stops a process here that reads from the terminal.
func inForeground(*os.File) bool { return true }
