//go:build darwin || freebsd

package control

import (
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// ours reports whether the process at the other end of c is this user's.
func ours(c *net.UnixConn) bool {
	raw, err := c.SyscallConn()
	if err != nil {
		return false
	}
	var peer *unix.Xucred
	var failed error
	err = raw.Control(func(fd uintptr) {
		peer, failed = unix.GetsockoptXucred(int(fd), 0, unix.LOCAL_PEERCRED) // 0 is SOL_LOCAL
	})
	return err == nil && failed == nil && int(peer.Uid) == os.Geteuid()
}
