package control

import (
	"net"
	"os"
	"syscall"
)

// ours reports whether the process at the other end of c is this user's.
func ours(c *net.UnixConn) bool {
	raw, err := c.SyscallConn()
	if err != nil {
		return false
	}
	var peer *syscall.Ucred
	var failed error
	err = raw.Control(func(fd uintptr) {
		peer, failed = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	})
	return err == nil && failed == nil && int(peer.Uid) == os.Geteuid()
}
