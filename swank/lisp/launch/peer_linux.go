package launch

import (
	"net"
	"syscall"
)

// isPeer reports whether the other end of conn is the process pid: code of a session's can
// call, too, and name a process that is not its own to end.
func isPeer(conn *net.UnixConn, pid int) bool {
	raw, err := conn.SyscallConn()
	if err != nil {
		return false
	}
	is := false
	err = raw.Control(func(fd uintptr) {
		peer, err := syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
		is = err == nil && int(peer.Pid) == pid
	})
	return err == nil && is
}
