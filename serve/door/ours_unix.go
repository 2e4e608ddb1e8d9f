//go:build unix

package door

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// ours reports whether what info is of is this user's, and nobody else can read it.
func ours(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid() && info.Mode().Perm()&0o077 == 0
}

// nobodyListens reports whether err says so, of a socket that was there. One whose server is too
// busy to take connections gives another error.
func nobodyListens(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, fs.ErrNotExist)
}
