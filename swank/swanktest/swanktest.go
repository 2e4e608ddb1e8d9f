// Package swanktest is a scripted Swank server for tests of Swank clients, as
// net/http/httptest is for HTTP. It has a framing of its own and knows nothing
// of s-expressions beyond the id at the end of a message, so that a mistake of
// the client's codec is not made here again.
//
//	peer, stream := swanktest.Pipe(t)
//	peer.Go(func() {
//		peer.Expect(`(:emacs-rex (swank:ping 42) "COMMON-LISP-USER" t 1)`)
//		peer.Send(`(:return (:ok 42) 1)`)
//	})
//	conn := swank.NewConn(stream, nil)
//
// A [Peer] reports the first thing that goes wrong by [testing.TB.Errorf],
// closes the stream, so that the client under test sees an end instead of
// silence, and does nothing from then on. Its methods may therefore be called
// from any goroutine, one at a time for each direction.
package swanktest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Timeout is how long a peer waits for the client to read or write.
const Timeout = 20 * time.Second

// Peer is the server's end of one connection.
type Peer struct {
	t  testing.TB
	nc net.Conn
	r  *bufio.Reader
	wg sync.WaitGroup

	mu     sync.Mutex
	failed bool
}

// NewPeer plays a server on nc, and closes it at the end of the test.
func NewPeer(t testing.TB, nc net.Conn) *Peer {
	p := &Peer{t: t, nc: nc, r: bufio.NewReader(nc)}
	t.Cleanup(func() {
		p.wg.Wait() // the client has closed its end, or a read or write times out
		nc.Close()
	})
	return p
}

// Pipe returns a peer and the client's end of an in-memory connection that
// buffers nothing: a write waits for its read. It works in a synctest bubble.
func Pipe(t testing.TB) (*Peer, net.Conn) {
	ours, theirs := net.Pipe()
	return NewPeer(t, ours), theirs
}

// SocketPair returns the two ends of a real connection through a Unix socket.
func SocketPair(t testing.TB) (*Peer, net.Conn) {
	t.Helper()
	l := Listen(t, "unix")
	client, err := net.Dial("unix", l.Addr())
	if err != nil {
		t.Fatalf("swanktest: %v", err)
	}
	return l.Accept(), client
}

// Listener is a server socket.
type Listener struct {
	t testing.TB
	l net.Listener
}

// Listen listens on a new address: on the loopback interface for the network
// "tcp", in a directory of the test for "unix".
func Listen(t testing.TB, network string) *Listener {
	t.Helper()
	addr := "127.0.0.1:0"
	if network == "unix" {
		addr = filepath.Join(t.TempDir(), "s")
	}
	l, err := net.Listen(network, addr)
	if err != nil {
		t.Fatalf("swanktest: %v", err)
	}
	t.Cleanup(func() { l.Close() })
	return &Listener{t, l}
}

// Addr returns the address to dial.
func (l *Listener) Addr() string { return l.l.Addr().String() }

// Accept waits for a client. It must be called on the test's own goroutine.
func (l *Listener) Accept() *Peer {
	l.t.Helper()
	nc, err := l.l.Accept()
	if err != nil {
		l.t.Fatalf("swanktest: %v", err)
	}
	return NewPeer(l.t, nc)
}

// Go plays a part of the script on another goroutine, which the end of the
// test waits for.
func (p *Peer) Go(script func()) { p.wg.Go(script) }

func (p *Peer) fail(format string, args ...any) {
	p.mu.Lock()
	first := !p.failed
	p.failed = true
	p.mu.Unlock()
	if first {
		p.t.Errorf("swanktest: "+format, args...)
		p.nc.Close()
	}
}

func (p *Peer) ok() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.failed
}

// Frame returns message with its header: the length in bytes as six upper-case
// hexadecimal digits.
func Frame(message string) string { return fmt.Sprintf("%06X%s", len(message), message) }

// ReadMessage reads one frame and returns its payload. err is [io.EOF] where
// the client has closed the connection between two frames.
func (p *Peer) ReadMessage() (string, error) {
	p.nc.SetReadDeadline(time.Now().Add(Timeout))
	var header [6]byte
	if _, err := io.ReadFull(p.r, header[:]); err != nil {
		return "", err
	}
	n, err := strconv.ParseUint(string(header[:]), 16, 24)
	if err != nil {
		return "", err
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(p.r, body); err != nil {
		return "", fmt.Errorf("frame of %d bytes: %w", n, err)
	}
	return string(body), nil
}

// Read returns the next message.
func (p *Peer) Read() string {
	if !p.ok() {
		return ""
	}
	m, err := p.ReadMessage()
	if err != nil {
		p.fail("reading a message: %v", err)
	}
	return m
}

// Expect reads a message for each of want and compares.
func (p *Peer) Expect(want ...string) {
	for _, w := range want {
		if got := p.Read(); p.ok() && got != w {
			p.fail("got message\n\t%s\nwant\n\t%s", got, w)
		}
	}
}

// ExpectClose waits until the client closes the connection, and fails if it
// says anything more.
func (p *Peer) ExpectClose() {
	if !p.ok() {
		return
	}
	switch m, err := p.ReadMessage(); {
	case err == nil:
		p.fail("got message %q, want the end", m)
	case !ended(err):
		p.fail("waiting for the end: %v", err)
	}
}

// Send writes a frame for each message.
func (p *Peer) Send(messages ...string) {
	for _, m := range messages {
		p.SendRaw(Frame(m))
	}
}

// SendRaw writes bytes as they are.
func (p *Peer) SendRaw(s string) {
	if !p.ok() {
		return
	}
	if err := p.TrySendRaw(s); err != nil {
		p.fail("sending: %v", err)
	}
}

// TrySendRaw writes bytes as they are and returns what went wrong instead of
// failing the test.
func (p *Peer) TrySendRaw(s string) error {
	p.nc.SetWriteDeadline(time.Now().Add(Timeout))
	_, err := io.WriteString(p.nc, s)
	return err
}

// ended tells the errors of a connection that the client closed. A client that
// closes while bytes for it are under way resets the connection.
func ended(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) || errors.Is(err, io.ErrClosedPipe) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// Close closes the connection.
func (p *Peer) Close() { p.nc.Close() }

// ID returns what stands between the last blank and the last parenthesis of a
// request: its id.
func ID(request string) string {
	request = strings.TrimRight(strings.TrimSpace(request), ")")
	return request[strings.LastIndexByte(request, ' ')+1:]
}

// Serve answers requests until the client closes the connection: to each
// message, the messages that answer returns.
func (p *Peer) Serve(answer func(request string) []string) {
	for p.ok() {
		m, err := p.ReadMessage()
		if err == nil {
			for _, a := range answer(m) {
				if err = p.TrySendRaw(Frame(a)); err != nil {
					break
				}
			}
		}
		if err != nil {
			if !ended(err) {
				p.fail("serving: %v", err)
			}
			return
		}
	}
}
