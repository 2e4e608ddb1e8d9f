package door

import (
	"bufio"
	"io"
	"log"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// queue is a listener at which clients wait, of a system that has so many descriptors.
type queue struct {
	few
	clients chan net.Conn
	over    chan struct{}
}

func (q *queue) Accept() (net.Conn, error) {
	file, err := q.take()
	if err != nil {
		return nil, err // whether a client waits or not
	}
	select {
	case there := <-q.clients:
		return &taken{Conn: there, of: &q.few}, nil
	case <-q.over:
		file.Close()
		return nil, net.ErrClosed
	}
}

func (q *queue) Close() error { close(q.over); return nil }

// come returns the connection of a client that waits.
func (q *queue) come() net.Conn {
	ours, theirs := net.Pipe()
	q.clients <- theirs
	return ours
}

// Where clients that say nothing have all descriptors, the next one that sends a request is
// answered, without waiting for their time to end. Those that have sent one stay.
func TestSilent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := &queue{few: few{free: 6}, clients: make(chan net.Conn, 100), over: make(chan struct{})}
		l := spare(q)
		l.open = func() (io.Closer, error) { return q.take() }
		server := &http.Server{
			ConnState: l.silent.follow, ReadHeaderTimeout: time.Hour, ErrorLog: log.New(io.Discard, "", 0),
			Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}),
		}
		ended := make(chan error, 1)
		go func() { ended <- server.Serve(l) }()
		ask := func(c net.Conn) (time.Duration, error) {
			began := time.Now()
			if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
				return 0, err
			}
			_, err := http.ReadResponse(bufio.NewReader(c), nil)
			return time.Since(began), err
		}
		known := q.come()
		if _, err := ask(known); err != nil {
			t.Fatal(err)
		}
		var all []net.Conn
		for range 80 {
			all = append(all, q.come())
		}
		for i, c := range []net.Conn{q.come(), q.come(), known} {
			if took, err := ask(c); err != nil || took >= spareTime {
				t.Errorf("client %d that sends a request, beside %d that do not: %v after %v", i, len(all), err, took)
			}
		}
		server.Close()
		for _, c := range append(all, known) {
			c.Close()
		}
		<-ended
	})
}
