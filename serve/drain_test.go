package serve

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"swank-mcp/internal/await"
)

// At the end the server says that it is not ready, takes calls for a while yet, and answers those
// that run. Nothing stays.
func TestDrain(t *testing.T) {
	t.Parallel()
	const delay = time.Second
	taken := make(chan struct{}) // the calls that come after it has said so
	p := start(t, t.TempDir(), func(o *Options) {
		o.DrainDelay, o.Drain = delay, await.Ceiling
		o.sleep = func(d time.Duration) {
			if d != delay {
				t.Errorf("it takes new calls for %v, want %v", d, delay)
			}
			<-taken
		}
	})
	p.wants(code("0").at("/s/late/mcp"), "=> 0")
	if r := p.send(call{path: "/readyz", method: "GET"}); r.status != 200 || r.body != "ready\n" {
		t.Errorf("readyz: %+v", r)
	}
	pid := p.pid(code(""))
	var answers sync.WaitGroup
	g := await.NewGate(t)
	answers.Go(func() { p.wants(code(fmt.Sprintf("(progn %s 'in-time)", g.Wait())), "=> IN-TIME") })
	g.Reached()
	answers.Go(func() {
		defer g.Open()
		defer close(taken)
		await.True(t, "it is not ready any more", func() bool { return p.send(call{path: "/readyz", method: "GET"}).status == 503 })
		p.says(tool("session-status", map[string]any{}).at("/s/new/mcp"), "not started")
		p.wants(code("(+ 1 2)").at("/s/late/mcp"), "=> 3")
	})
	p.end()
	answers.Wait()
	if alive(pid) {
		t.Errorf("process %d stays", pid)
	}
}

// A client that is slow to read the last answer gets the whole of it.
func TestDrainEndsWithTheLastAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := New(Options{Drain: time.Second})
		const size = 1 << 20
		s.http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", strconv.Itoa(size))
			_, _ = w.Write(make([]byte, size))
		})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		l := &one{make(chan net.Conn, 1), make(chan struct{})}
		ours, theirs := net.Pipe()
		l.conns <- theirs
		go func() { ended <- s.Serve(ctx, l) }()
		_, err := io.WriteString(ours, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
		check(t, err)
		synctest.Wait()
		cancel()
		time.Sleep(writeTime - time.Millisecond)
		resp, err := http.ReadResponse(bufio.NewReader(ours), nil)
		check(t, err)
		if n, err := io.Copy(io.Discard, resp.Body); err != nil || n != size {
			t.Errorf("%d bytes of the answer came, want %d: %v", n, size, err)
		}
		check(t, <-ended)
	})
}

// one is a listener that has the connections of a channel.
type one struct {
	conns chan net.Conn
	over  chan struct{}
}

func (l *one) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.over:
		return nil, net.ErrClosed
	}
}

func (l *one) Close() error {
	select {
	case <-l.over:
	default:
		close(l.over)
	}
	return nil
}

func (l *one) Addr() net.Addr { return nil }

// Calls that do not end within the grace are told that the server ends, and streams are ended.
func TestDrainEndsCalls(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), func(o *Options) { o.Drain = 10 * time.Millisecond })
	id, _ := p.handshake(call{})
	stream, err := p.open(t.Context(), call{method: "GET", header: map[string]string{sessionHeader: id, versionHeader: "2025-11-25"}})
	check(t, err)
	defer stream.Body.Close()
	pid := p.pid(code("").within(id))
	var answers sync.WaitGroup
	answers.Go(func() { p.says(code("(loop)").within(id), "server is shutting down") })
	await.True(t, "it runs", func() bool {
		return strings.Contains(p.send(tool("session-status", map[string]any{}).within(id)).text(), "(loop)")
	})
	p.end()
	answers.Wait()
	if alive(pid) {
		t.Errorf("process %d stays", pid)
	}
	if _, err := io.ReadAll(stream.Body); err != nil {
		t.Errorf("the stream by GET: %v", err)
	}
}
