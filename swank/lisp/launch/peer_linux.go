package launch

import (
	"net"
	"syscall"
)

// isPeer reports whether the other end of conn is the process pid: code of a session's can
// call, too, and name a process that is not its own to end.
func isPeer(conn *net.UnixConn, pid int) bool {
	return peerPID(conn) == pid
}

// peerPID returns the process at the other end of conn, 0 if that is not known.
func peerPID(conn *net.UnixConn) (pid int) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Control(func(fd uintptr) {
		if peer, err := syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED); err == nil {
			pid = int(peer.Pid)
		}
	})
	return pid
}
