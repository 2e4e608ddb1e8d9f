package door

import (
	"errors"
	"io"
	"net"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// few is a listener of a system that has so many descriptors, and opens what takes one.
type few struct {
	mu      sync.Mutex
	free    int
	clients int // that wait
}

type taken struct {
	net.Conn
	of    *few
	given sync.Once
}

func (t *taken) Close() error {
	t.given.Do(func() {
		t.of.mu.Lock()
		defer t.of.mu.Unlock()
		t.of.free++
	})
	if t.Conn != nil {
		return t.Conn.Close()
	}
	return nil
}

func (f *few) take() (net.Conn, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.free == 0 {
		return nil, &net.OpError{Op: "accept", Net: "tcp", Err: syscall.EMFILE}
	}
	f.free--
	return &taken{of: f}, nil
}

func (f *few) Accept() (net.Conn, error) {
	c, err := f.take()
	if err == nil {
		f.clients--
	}
	return c, err
}

func (f *few) Close() error   { return nil }
func (f *few) Addr() net.Addr { return nil }

// The last descriptor is kept for saying that there is no other. It comes back when that
// connection is closed, which its client cannot put off, and when another one is.
func TestSpare(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &few{free: 2, clients: 10}
		l := &sparing{Listener: f, open: func() (io.Closer, error) { return f.take() }}
		accept := func(wantPoor bool) net.Conn {
			t.Helper()
			c, err := l.Accept()
			if err != nil || Poor(c) != wantPoor {
				t.Fatalf("poor: %v, want %v: %v", Poor(c), wantPoor, err)
			}
			return c
		}
		rich := accept(false)
		first := accept(true)
		if _, err := l.Accept(); !errors.Is(err, syscall.EMFILE) {
			t.Errorf("beside the spare one: %v", err)
		}
		first.Close()
		first.Close() // again: that gives nothing back
		accept(true)
		time.Sleep(spareTime + time.Second)
		synctest.Wait()
		last := accept(true) // its client has not gone by itself
		rich.Close()
		last.Close()
		accept(false)
		accept(true)
		if f.clients != 10-6 {
			t.Errorf("%d clients wait", f.clients)
		}
	})
}
