//go:build unix

package door

import (
	"io/fs"
	"os"
	"syscall"
)

// ours reports whether what info is of is this user's, and nobody else can read it.
func ours(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid() && info.Mode().Perm()&0o077 == 0
}
