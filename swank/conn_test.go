package swank

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"swank-mcp/internal/await"
	"swank-mcp/sexp"
	"swank-mcp/swank/swanktest"
)

func TestConversation(t *testing.T) {
	trace := new(syncBuffer)
	peer, c := connect(t, &Options{Trace: trace})
	peer.Go(func() {
		peer.Expect(`(:emacs-rex (swank:connection-info) "COMMON-LISP-USER" t 1)`)
		peer.Send(`(:new-features (:swank))`, `(:return (:ok (:pid 17 :version "2.27" :new (1 . 2) :package (:name "P" :prompt "p"))) 1)`)
		peer.Expect("(:emacs-rex (swank:eval-and-grab-output \"(print \\\"é\n\\\")\") \"DEMO\" 5 2)")
		peer.Send("(:write-string \"é\n\t\x00\")", `(:return (:ok ("é" "\"é\"")) 2)`)
	})
	info, err := c.ConnectionInfo(await.Context(t))
	if err != nil || info.PID != 17 || info.Version != "2.27" {
		t.Fatalf("ConnectionInfo: %+v, %v", info, err)
	}
	g, err := grab(c, await.Context(t), 5, "DEMO", "(print \"é\n\")")
	if err != nil || g.Output != "é" || g.Values != `"é"` {
		t.Fatalf("EvalAndGrabOutput: %+v, %v", g, err)
	}
	c.Close()
	want := `>> 59 (:emacs-rex (swank:connection-info) "COMMON-LISP-USER" t 1)
<< 24 (:new-features (:swank))
<< 89 (:return (:ok (:pid 17 :version "2.27" :new (1 . 2) :package (:name "P" :prompt "p"))) 1)
>> 70 (:emacs-rex (swank:eval-and-grab-output "(print \"é\n\")") "DEMO" 5 2)
<< 23 (:write-string "é\n\t\x00")
<< 33 (:return (:ok ("é" "\"é\"")) 2)
`
	if got := trace.String(); got != want {
		t.Errorf("trace:\n%s\nwant\n%s", got, want)
	}
}

func TestDial(t *testing.T) {
	for _, network := range []string{"tcp", "unix"} {
		t.Run(network, func(t *testing.T) {
			checkLeaks(t)
			l := swanktest.Listen(t, network)
			c, err := Dial(await.Context(t), network, l.Addr(), &Options{FirstID: 700})
			if err != nil {
				t.Fatal(err)
			}
			peer := l.Accept()
			peer.Go(func() {
				peer.Expect(`(:emacs-rex (swank:ping 42) "COMMON-LISP-USER" t 700)`)
				peer.Send(`(:return (:ok 42) 700)`)
				peer.ExpectClose()
			})
			if err := c.Ping(await.Context(t), NewWorker); err != nil {
				t.Error(err)
			}
			if err := c.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		})
	}
	t.Run("nobody there", func(t *testing.T) {
		_, err := Dial(await.Context(t), "unix", t.TempDir()+"/none", nil)
		if err == nil || !strings.HasPrefix(err.Error(), "swank: connecting: dial unix") {
			t.Errorf("got %v", err)
		}
	})
}

func TestSecret(t *testing.T) {
	for _, first := range []string{"alone", "with a request"} {
		t.Run(first, func(t *testing.T) {
			trace := new(syncBuffer)
			peer, c := connect(t, &Options{Secret: `sés"am`, Trace: trace})
			if first == "alone" {
				peer.Expect(`sés"am`)
				peer.Go(func() { peer.Expect(request(1)) })
			} else {
				peer.Go(func() { peer.Expect(`sés"am`, request(1)) })
			}
			mustGo(t, c)
			c.Close()
			if got, want := trace.String(), ">> [secret]\n>> 42 "+request(1)+"\n"; got != want {
				t.Errorf("trace:\n%s\nwant\n%s", got, want)
			}
		})
	}
	t.Run("too large", func(t *testing.T) {
		_, c := connect(t, &Options{Secret: strings.Repeat("x", maxFrame+1)})
		if tooBig := (*FrameSizeError)(nil); !errors.As(c.Wait(), &tooBig) {
			t.Errorf("got %v", c.Err())
		}
	})
}

func TestOutOfOrder(t *testing.T) {
	peer, c := connect(t, nil)
	const n = 500
	peer.Go(func() {
		var replies []string
		for range n {
			id := swanktest.ID(peer.Read())
			replies = append(replies, fmt.Sprintf("(:return (:ok %s) %s)", id, id))
		}
		rand.Shuffle(n, func(i, j int) { replies[i], replies[j] = replies[j], replies[i] })
		peer.Send(`(:return (:ok "a foreign id") 100000)`)
		peer.Send(replies...)
	})
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			k, err := c.Go(Request{Form: form("cl:f")})
			if err != nil {
				t.Error(err)
				return
			}
			var got int64
			if err := k.Wait(await.Context(t), &got); err != nil || got != k.id {
				t.Errorf("call %d: %d, %v", k.id, got, err)
			}
		})
	}
	wg.Wait()
	if len(c.calls) != 0 {
		t.Errorf("%d calls still pending", len(c.calls))
	}
}

func TestWaitLeavesCallPending(t *testing.T) {
	peer, c := connect(t, nil)
	why := errors.New("impatient")
	ctx, cancel := context.WithCancelCause(context.Background())
	k := mustGo(t, c)
	cancel(why)
	if err := k.Wait(ctx, nil); err != why {
		t.Fatalf("got %v", err)
	}
	peer.Expect(request(1))
	peer.Send(`(:return (:ok "late") 1)`)
	<-k.Done()
	for range 2 {
		var s string
		if err := k.Wait(ctx, &s); err != nil || s != "late" {
			t.Errorf("second wait: %q, %v", s, err)
		}
	}
	if err := c.Err(); err != nil {
		t.Errorf("connection: %v", err)
	}
}

func TestEncodingErrorsLeaveConnection(t *testing.T) {
	peer, c := connect(t, nil)
	for _, r := range []Request{
		{Form: sexp.Symbol("foo #.(evil)")},
		{Form: func() {}},
		{Form: strings.Repeat("x", maxFrame)},
		{Form: form("cl:f"), Package: strings.Repeat("x", maxFrame)},
		{Form: form("cl:f"), Thread: -7},
	} {
		if k, err := c.Go(r); err == nil {
			t.Errorf("%.40v was sent as call %d", r, k.id)
		}
	}
	peer.Go(func() {
		peer.Expect(request(1))
		peer.Send(`(:return (:ok nil) 1)`)
	})
	if err := mustGo(t, c).Wait(await.Context(t), nil); err != nil {
		t.Error(err)
	}
}

// Whatever ends the connection, every call and every later one gets the same
// first cause.
func TestFirstCause(t *testing.T) {
	for _, tt := range []struct {
		name, send string
		is         error
		text       string
	}{
		{"end", "", io.EOF, "swank: read: EOF"},
		{"end within a frame", "0000ff(:ret", io.ErrUnexpectedEOF, "swank: read: frame ended after 5 of 255 bytes: unexpected EOF"},
		{"no frame", "ldb> ldb>", nil, `swank: read: bad frame header "ldb> l"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			peer, c := connect(t, nil)
			calls := []*Call{mustGo(t, c), mustGo(t, c)}
			peer.Expect(request(1), request(2))
			peer.SendRaw(tt.send)
			peer.Close()
			want := c.Wait()
			if want.Error() != tt.text || tt.is != nil && !errors.Is(want, tt.is) {
				t.Errorf("cause %q, want %q", want, tt.text)
			}
			if ce := (*ConnError)(nil); !errors.As(want, &ce) {
				t.Errorf("%T is no ConnError", want)
			}
			for _, k := range calls {
				if err := k.Wait(await.Context(t), nil); err != want {
					t.Errorf("call %d: %v", k.id, err)
				}
			}
			if _, err := c.Go(Request{Form: 1}); err != want {
				t.Errorf("Go: %v", err)
			}
			if err := c.post(nil); err != want {
				t.Errorf("post: %v", err)
			}
			if err := c.Close(); err != want {
				t.Errorf("Close: %v", err)
			}
			<-c.Done()
		})
	}
}

func TestClose(t *testing.T) {
	_, c := connect(t, nil)
	k := mustGo(t, c)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if err := c.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		})
	}
	wg.Wait()
	if err := k.Wait(await.Context(t), nil); err != ErrClosed {
		t.Errorf("call: %v", err)
	}
	if err := c.Wait(); err != ErrClosed {
		t.Errorf("Wait: %v", err)
	}
}

// Close, failure and every kind of use at random moments: nothing hangs, and
// every call ends.
func TestCloseRaces(t *testing.T) {
	checkLeaks(t)
	for i := range 200 {
		peer, stream := swanktest.Pipe(t)
		c := newTestConn(t, stream, &Options{Secret: "s", Handler: func(*Debug) {}})
		peer.Go(func() {
			peer.ReadMessage()
			peer.Serve(func(r string) []string {
				id := swanktest.ID(r)
				return []string{"(:ping 1 " + id + ")", "(:read-string 1 " + id + ")", "(:return (:ok 1) " + id + ")"}
			})
		})
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				for {
					if err := c.Call(await.Context(t), Request{Form: 1}, nil); err != nil {
						if !errors.Is(err, ErrClosed) && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrClosedPipe) {
							t.Errorf("call: %v", err)
						}
						return
					}
				}
			})
		}
		time.Sleep(time.Duration(rand.IntN(300)) * time.Microsecond)
		if i%2 == 0 {
			peer.Close()
		}
		c.Close()
		wg.Wait()
	}
}

func TestHandlerPanic(t *testing.T) {
	peer, c := connect(t, &Options{Handler: func(*Debug) { panic("oops") }})
	k := mustGo(t, c)
	peer.Expect(request(1))
	peer.Send(debugMessage(4, 1, "(1)"))
	err := k.Wait(await.Context(t), nil)
	if err == nil || !strings.Contains(err.Error(), "swank: read: panic: oops\n") || !strings.Contains(err.Error(), "conn_test.go") {
		t.Errorf("got %v", err)
	}
}

func TestWriteTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, stream := swanktest.Pipe(t) // nobody reads
		c := NewConn(stream, &Options{WriteTimeout: 7 * time.Second})
		begin := time.Now()
		_, err := c.Go(Request{Form: 1})
		if !errors.Is(err, ErrWriteTimeout) || time.Since(begin) != 7*time.Second {
			t.Errorf("after %v: %v", time.Since(begin), err)
		}
		if got, want := err.Error(), "swank: write: the peer does not read: write timed out after 7s"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		c.Close()
	})
}

// Patient is asked whether to go on, and a peer that takes a long frame slowly is waited
// for.
func TestWritePatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, stream := swanktest.Pipe(t) // nobody reads
		var asked []time.Duration
		c := NewConn(stream, &Options{WriteTimeout: 3 * time.Second, Patient: func(waited time.Duration) bool {
			asked = append(asked, waited)
			return waited < 8*time.Second
		}})
		begin := time.Now()
		if _, err := c.Go(Request{Form: 1}); !errors.Is(err, ErrWriteTimeout) || time.Since(begin) != 9*time.Second || len(asked) != 3 {
			t.Errorf("after %v, asked at %v: %v", time.Since(begin), asked, err)
		}
		c.Close()

		_, stream = swanktest.Pipe(t)
		c = NewConn(slowWriter{stream}, &Options{WriteTimeout: 3 * time.Second})
		begin = time.Now()
		if _, err := c.Go(Request{Form: strings.Repeat("x", 5*writePiece)}); err != nil || time.Since(begin) < 10*time.Second {
			t.Errorf("a slow peer: after %v: %v", time.Since(begin), err)
		}
		time.Sleep(time.Minute)
		if err := c.Err(); err != nil {
			t.Error(err)
		}
		c.Close()
	})
}

// slowWriter takes two seconds for what it is given at once.
type slowWriter struct{ net.Conn }

func (slowWriter) Write(b []byte) (int, error) {
	time.Sleep(2 * time.Second)
	return len(b), nil
}

// A secret, or an acknowledgement, that cannot be written ends the connection
// in the same way, though nobody waits for the write.
func TestFlusherTimeout(t *testing.T) {
	for _, what := range []string{"secret", "ack"} {
		synctest.Test(t, func(t *testing.T) {
			peer, stream := swanktest.Pipe(t)
			o := &Options{}
			if what == "secret" {
				o.Secret = "s"
			}
			begin := time.Now()
			c := NewConn(stream, o)
			if what == "ack" {
				peer.Send("(:ping 1 1)")
			}
			if err := c.Wait(); !errors.Is(err, ErrWriteTimeout) || time.Since(begin) != 30*time.Second {
				t.Errorf("%s: after %v: %v", what, time.Since(begin), err)
			}
		})
	}
}

// A fast write must not be counted towards a later one.
func TestWriteTimeoutIsPerFrame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		peer, stream := swanktest.Pipe(t)
		c := NewConn(stream, &Options{WriteTimeout: time.Second})
		for i := range int64(5) {
			peer.Go(func() { peer.Expect(request(i + 1)) })
			mustGo(t, c)
			time.Sleep(900 * time.Millisecond)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// What the peer said before it went is not lost when a write fails first.
func TestWriteErrorDrains(t *testing.T) {
	checkLeaks(t)
	peer, stream := swanktest.Pipe(t)
	half := &halfBroken{Conn: stream}
	c := newTestConn(t, half, nil)
	peer.Go(func() { peer.Expect(request(1)) })
	k := mustGo(t, c)
	half.broken.Store(true)
	_, err := c.Go(Request{Form: 1})
	if err == nil || err.Error() != "swank: write: disk on fire" {
		t.Fatalf("Go: %v", err)
	}
	peer.Send(`(:return (:ok "last words") 1)`)
	peer.Close()
	var s string
	if e := k.Wait(await.Context(t), &s); e != nil || s != "last words" {
		t.Errorf("%q, %v", s, e)
	}
	if e := c.Wait(); e != err {
		t.Errorf("Wait: %v", e)
	}
}

type halfBroken struct {
	net.Conn
	broken atomic.Bool
}

func (h *halfBroken) Write(b []byte) (int, error) {
	if h.broken.Load() {
		return 0, errors.New("disk on fire")
	}
	return h.Conn.Write(b)
}

func TestWriteError(t *testing.T) {
	checkLeaks(t)
	_, stream := swanktest.Pipe(t)
	half := &halfBroken{Conn: stream}
	half.broken.Store(true)
	c := newTestConn(t, half, nil)
	_, err := c.Go(Request{Form: 1})
	if err == nil || err.Error() != "swank: write: disk on fire" || c.Wait() != err {
		t.Errorf("Go: %v, Wait: %v", err, c.Wait())
	}
}
