package launch

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// A server that is killed while its image is stopped, or when the thread of the image
// that would notice has ended, leaves the image and its directory behind. A directory
// is in use for as long as its server holds a lock on it.

// holdDir locks dir until the file is closed, at the latest by the end of this process. The
// file is nil if that cannot be done. lost says that a server that looks for what others have
// left behind has the directory, or has removed it: one that is not locked yet looks so.
func holdDir(dir string) (held *os.File, lost bool) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, os.IsNotExist(err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, err == syscall.EWOULDBLOCK
	}
	mine, _ := f.Stat()
	if there, err := os.Lstat(dir); err != nil || !os.SameFile(mine, there) {
		_ = f.Close()
		return nil, true
	}
	return f, false
}

// sweep ends, once in the life of this process, the images of servers that are no
// more, and removes their directories.
var sweep = sync.OnceFunc(func() {
	for _, base := range runBases() {
		if !filepath.IsAbs(base) {
			continue
		}
		dirs, _ := filepath.Glob(filepath.Join(globQuote(base), runPrefix+"*"))
		for _, dir := range dirs {
			info, err := os.Lstat(dir)
			if err != nil || !info.IsDir() {
				continue
			}
			if owner, ok := info.Sys().(*syscall.Stat_t); !ok || int(owner.Uid) != os.Getuid() {
				continue
			}
			if held, _ := holdDir(dir); held != nil {
				ended := true
				sockets, _ := filepath.Glob(filepath.Join(globQuote(dir), "*.sock"))
				for _, socket := range sockets {
					// Not a link that code in the image has made to another's socket.
					if info, err := os.Lstat(socket); err == nil && info.Mode()&os.ModeSocket != 0 {
						ended = endListener(socket) && ended
					}
				}
				if ended { // else the next server finds it
					_ = os.RemoveAll(dir)
				}
				_ = held.Close()
			}
		}
	}
})

// endListener kills the process that listens on a Unix socket, and its group. One
// that is stopped is found, too: the system answers for it. It reports false if somebody
// listens who could not be reached.
func endListener(socket string) bool {
	c, err := net.DialTimeout("unix", socket, time.Second)
	if err != nil {
		return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, os.ErrNotExist)
	}
	defer c.Close()
	raw, err := c.(*net.UnixConn).SyscallConn()
	if err != nil {
		return true
	}
	_ = raw.Control(func(fd uintptr) {
		peer, err := syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
		if err != nil || peer.Pid <= 1 || int(peer.Uid) != os.Getuid() {
			return
		}
		// The leader of its group, as all that we start.
		if group, err := syscall.Getpgid(int(peer.Pid)); err == nil && group == int(peer.Pid) {
			_ = syscall.Kill(-group, syscall.SIGKILL)
		}
	})
	return true
}
