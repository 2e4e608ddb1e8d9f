package door

import (
	"crypto/tls"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"swank-mcp/internal/nofiles"
)

// spareTime limits a connection that has the spare descriptor: another client waits for it.
const spareTime = 5 * time.Second

// A sparing listener keeps one descriptor, so that a client can be told that there is no other.
type sparing struct {
	net.Listener
	open   func() (io.Closer, error) // opens what takes a descriptor
	silent silent

	mu    sync.Mutex
	spare io.Closer // nil: a connection has it, or it could not be had again
	lent  bool      // a connection has it
}

// spare returns l as one that answers where no files can be opened.
func spare(l net.Listener) *sparing {
	s := &sparing{Listener: l, open: func() (io.Closer, error) { return os.Open(os.DevNull) }}
	s.keep()
	return s
}

// keep has a spare descriptor again, if that can be, and reports whether it has.
func (l *sparing) keep() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.spare == nil && !l.lent {
		if f, err := l.open(); err == nil {
			l.spare = f
		}
	}
	return l.spare != nil
}

// lend gives the descriptor back to the system, and reports whether there was one.
func (l *sparing) lend() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.spare == nil {
		return false
	}
	l.spare.Close()
	l.spare = nil
	return true
}

// Accept implements net.Listener. Where there is no descriptor, a connection that is silent gives
// up its own. Where a connection gets the spare one, Poor tells. An error is net/http's to wait
// for, and to try again.
func (l *sparing) Accept() (net.Conn, error) {
	l.keep()
	c, err := l.Listener.Accept()
	for nofiles.Is(err) && l.silent.closeOne() {
		c, err = l.Listener.Accept()
	}
	if !nofiles.Is(err) {
		return c, err
	}
	if !l.lend() {
		l.silent.hurry()
		return nil, err
	}
	if c, err = l.Listener.Accept(); err != nil {
		return nil, err
	}
	if l.keep() { // meanwhile another one was closed
		return c, nil
	}
	p := &poor{Conn: c, of: l}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lent = true
	p.end = time.AfterFunc(spareTime, func() { p.Close() }) // net/http sets the connection's deadlines as it likes
	return p, nil
}

// Close implements net.Listener.
func (l *sparing) Close() error {
	err := l.Listener.Close()
	l.lend()
	return err
}

// poor is a connection that has the spare descriptor.
type poor struct {
	net.Conn
	of   *sparing
	end  *time.Timer
	once sync.Once
}

// Close implements net.Conn.
func (p *poor) Close() error {
	err := net.ErrClosed
	p.once.Do(func() {
		err = p.Conn.Close()
		p.of.mu.Lock()
		p.end.Stop()
		p.of.lent = false
		p.of.mu.Unlock()
		p.of.keep()
	})
	return err
}

// Poor reports whether there was no descriptor for the connection but the spare one: it is for
// saying so alone.
func Poor(c net.Conn) bool {
	_, ok := under(c).(*poor)
	return ok
}

// under returns the connection that a listener without TLS has given.
func under(c net.Conn) net.Conn {
	if t, ok := c.(*tls.Conn); ok {
		return t.NetConn()
	}
	return c
}
