package swank

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"swank-mcp/internal/await"
	"swank-mcp/swank/swanktest"
)

// Output as both generations of Swank send it: pings every 100 events, or an
// acknowledgement for each. Lisp waits for every answer before it goes on.
func TestOutputFlood(t *testing.T) {
	const events = 20_000
	for _, acked := range []bool{false, true} {
		t.Run(fmt.Sprintf("acked %v", acked), func(t *testing.T) {
			peer, c := connect(t, nil)
			k := mustGo(t, c)
			peer.Go(func() {
				peer.Expect(request(1))
				for i := range events {
					if acked {
						peer.Send(fmt.Sprintf("(:write-string \"line %d\n\" nil 4)", i))
						peer.Expect("(:write-done 4)")
						continue
					}
					peer.Send(fmt.Sprintf("(:write-string \"line %d\n\")", i))
					if i%100 == 99 {
						peer.Send(fmt.Sprintf("(:ping 4 %d)", i))
						peer.Expect(fmt.Sprintf("(:emacs-pong 4 %d)", i))
					}
				}
				peer.Send(`(:return (:ok nil) 1)`)
			})
			if err := k.Wait(await.Context(t), nil); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// A peer that asks and prints but does not read cannot stop the reader: on an
// unbuffered pipe every write blocks, and all its messages are still taken.
func TestReaderNeverBlocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		peer, stream := swanktest.Pipe(t)
		c := NewConn(stream, nil)
		var k *Call
		peer.Go(func() { peer.Expect(request(1)) })
		k = mustGo(t, c)
		synctest.Wait()
		var want []string
		for i := range 1000 {
			peer.Send(fmt.Sprintf("(:ping 1 %d)", i), `(:write-string "x" nil 2)`, fmt.Sprintf("(:read-string 3 %d)", i))
			want = append(want, fmt.Sprintf("(:emacs-pong 1 %d)", i), "(:write-done 2)", fmt.Sprintf(`(:emacs-return-string 3 %d "")`, i))
		}
		peer.Send(`(:return (:ok 5) 1)`)
		var v int
		if err := k.Wait(t.Context(), &v); err != nil || v != 5 {
			t.Errorf("%d, %v", v, err)
		}
		peer.Expect(want...) // in the order asked
		c.Close()
	})
}

// The same while a request of ours is stuck half-way.
func TestReaderNeverBlocksBehindWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		peer, stream := swanktest.Pipe(t)
		c := NewConn(stream, nil)
		sent := make(chan error, 1)
		go func() {
			_, err := c.Go(Request{Form: strings.Repeat("x", 1000)})
			sent <- err
		}()
		synctest.Wait()
		peer.Send("(:ping 1 1)", "(:ping 1 2)", `(:background-message "x")`)
		peer.Read()
		peer.Expect("(:emacs-pong 1 1)", "(:emacs-pong 1 2)")
		if err := <-sent; err != nil {
			t.Error(err)
		}
		c.Close()
	})
}

// A peer that goes on asking for ever cannot fill the memory.
func TestQueueIsBounded(t *testing.T) {
	checkLeaks(t)
	peer, stream := swanktest.Pipe(t)
	c := newTestConn(t, stream, nil)
	peer.Go(func() {
		ping := strings.Repeat(swanktest.Frame("(:ping 1 1)"), 1000)
		for peer.TrySendRaw(ping) == nil {
		}
	})
	err := c.Wait()
	if err == nil || err.Error() != "swank: write: the peer asks but does not read" {
		t.Errorf("got %v", err)
	}
}

// When the flusher has nothing left it is gone.
func TestFlusherEnds(t *testing.T) {
	peer, c := connect(t, nil)
	for i := range 100 {
		peer.Send("(:ping 1 1)")
		peer.Expect("(:emacs-pong 1 1)")
		if i%10 == 0 {
			time.Sleep(time.Millisecond)
		}
	}
	for range 1000 {
		c.mu.Lock()
		flushing := c.flushing
		c.mu.Unlock()
		if !flushing {
			if n := len(connGoroutines()); n != 1 {
				t.Errorf("%d goroutines, want the reader", n)
			}
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Error("the flusher goes on")
}

func TestPostAfterClose(t *testing.T) {
	_, c := connect(t, nil)
	c.Close()
	if err := c.post(nil); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v", err)
	}
}
