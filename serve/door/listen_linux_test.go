package door

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A server that is too busy to take connections is not dead: its socket stays.
func TestSocketOfBusyServer(t *testing.T) {
	dir, err := os.MkdirTemp("", "door") // short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, "s")
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	if err := syscall.Bind(fd, &syscall.SockaddrUnix{Name: path}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	for { // until nothing more has room in its queue
		c, err := net.Dial("unix", path)
		if err != nil {
			break
		}
		defer c.Close()
	}
	if _, err := (&Place{Address: "unix:" + path}).Listen(); err == nil || !strings.Contains(err.Error(), "it is not known whether another server listens there") {
		t.Errorf("a second server: %v", err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Errorf("the socket: %v", err)
	}
}
