package control

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

const suffix = ".sock"

// socket is a Unix socket that listens, with a name in a directory.
type socket struct {
	*net.UnixListener
	path string
}

// listen makes the socket of this process in the first of dirs that takes it.
func listen(dirs []string) (*socket, error) {
	var all []error
	for _, dir := range dirs {
		s, err := listenIn(dir)
		if err == nil {
			return s, nil
		}
		all = append(all, err)
	}
	return nil, errors.Join(all...)
}

// listenIn makes the socket in dir, and removes those of servers that are dead. The socket
// has its name when it listens, so that one that refuses connections is dead.
func listenIn(dir string) (*socket, error) {
	id := strconv.Itoa(os.Getpid())
	temporary := filepath.Join(dir, "new-"+id)
	if len(temporary)+len(suffix) > maxPath {
		return nil, fmt.Errorf("%s: too long for a socket", dir)
	}
	if err := makeDir(dir); err != nil {
		return nil, err
	}
	if unlock, err := lockDir(dir); err == nil {
		defer unlock()
		if !swept.Swap(true) {
			sweep(dir)
		}
	}
	os.Remove(temporary)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: temporary, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	path := filepath.Join(dir, id+suffix)
	for n := 2; ; n++ { // a process of another container may have the same number
		if _, err := os.Lstat(path); err != nil {
			break
		}
		path = filepath.Join(dir, fmt.Sprintf("%s-%d%s", id, n, suffix))
	}
	err = os.Chmod(temporary, 0o600)
	if err == nil {
		err = os.Rename(temporary, path)
	}
	if err != nil {
		l.Close()
		os.Remove(temporary)
		return nil, err
	}
	return &socket{l, path}, nil
}

// swept says that this process has looked for the sockets of dead servers: once is enough,
// and it may make a thousand of its own.
var swept atomic.Bool

// sweep removes the sockets of servers that are dead. The directory is locked.
func sweep(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if e.Type()&os.ModeSocket == 0 || !dead(path) {
			continue
		}
		os.Remove(path)
	}
}

// dead reports whether nobody listens at the socket any more.
func dead(path string) bool {
	c, err := net.DialTimeout("unix", path, time.Second)
	if err == nil {
		c.Close()
		return false
	}
	return refused(err)
}

func idOf(path string) string { return strings.TrimSuffix(filepath.Base(path), suffix) }

// Accept returns the next connection of this user's. Others are closed.
func (s *socket) Accept() (net.Conn, error) {
	for {
		c, err := s.AcceptUnix()
		if err != nil {
			return nil, err
		}
		if ours(c) {
			return c, nil
		}
		c.Close()
	}
}

// hide takes the socket's name away: nobody finds it any more.
func (s *socket) hide() { os.Remove(s.path) }
