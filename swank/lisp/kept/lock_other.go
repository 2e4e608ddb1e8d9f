//go:build !unix || solaris || aix

package kept

import "os"

// lockFile does nothing: two servers in one directory keep the newer session.
func lockFile(*os.File) error { return nil }
