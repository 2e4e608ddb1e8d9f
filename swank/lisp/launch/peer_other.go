//go:build !linux

package launch

import "net"

// isPeer reports true: who is at the other end is not known.
func isPeer(*net.UnixConn, int) bool { return true }

func peerPID(*net.UnixConn) int { return 0 }
