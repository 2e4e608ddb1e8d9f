//go:build !unix || solaris || aix

package control

import "io/fs"

// private reports true: directories for temporary files are the user's own here.
func private(fs.FileInfo) bool { return true }

// lockDir does nothing: the names of sockets are those of processes.
func lockDir(string) (unlock func(), err error) { return func() {}, nil }
