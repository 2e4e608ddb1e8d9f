package swank

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"swank-mcp/internal/await"
	"swank-mcp/swank/swanktest"
)

// checkLeaks fails the test if a goroutine of this package outlives it. It must
// come before whatever else the test cleans up.
func checkLeaks(t testing.TB) {
	t.Helper()
	t.Cleanup(func() {
		var left []string
		if err := await.Until(func() bool { left = connGoroutines(); return len(left) == 0 }); err != nil {
			t.Errorf("%v: %d goroutines left:\n%s", err, len(left), strings.Join(left, "\n\n"))
		}
	})
}

// connGoroutines returns the stacks of the goroutines that run methods of Conn.
func connGoroutines() (left []string) {
	buf := make([]byte, 1<<20)
	buf = buf[:runtime.Stack(buf, true)]
	for g := range strings.SplitSeq(string(buf), "\n\n") {
		if strings.Contains(g, "swank.(*Conn).read(") || strings.Contains(g, "swank.(*Conn).flush(") {
			left = append(left, g)
		}
	}
	return left
}

// A recorder keeps the debuggers that the handler is told of.
type recorder struct {
	mu     sync.Mutex
	debugs []*Debug
}

func newRecorder() *recorder { return &recorder{} }

func (r *recorder) handle(d *Debug) {
	r.mu.Lock()
	r.debugs = append(r.debugs, d)
	r.mu.Unlock()
}

func (r *recorder) all() []*Debug {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]*Debug(nil), r.debugs...)
}

// await returns the first debugger of the given level.
func (r *recorder) await(t testing.TB, level int) *Debug {
	t.Helper()
	var found *Debug
	await.True(t, fmt.Sprintf("a debugger of level %d", level), func() bool {
		all := r.all()
		if i := slices.IndexFunc(all, func(d *Debug) bool { return d.Level == level }); i >= 0 {
			found = all[i]
		}
		return found != nil
	})
	return found
}

// grab evaluates source in the given package and thread.
func grab(c *Conn, ctx context.Context, thread ThreadID, pkg, source string) (*Grabbed, error) {
	var g Grabbed
	err := c.Call(ctx, Request{Form: EvalAndGrabOutput(source), Package: pkg, Thread: thread}, &g)
	return &g, err
}

// connect returns a peer and a connection to it through a Unix socket, closed
// at the end of the test and checked for leaks.
func connect(t testing.TB, o *Options) (*swanktest.Peer, *Conn) {
	t.Helper()
	checkLeaks(t)
	peer, stream := swanktest.SocketPair(t)
	return peer, newTestConn(t, stream, o)
}

func newTestConn(t testing.TB, stream io.ReadWriteCloser, o *Options) *Conn {
	c := NewConn(stream, o)
	t.Cleanup(func() { c.Close() })
	return c
}

// mustGo sends (cl:f) to a new worker.
func mustGo(t testing.TB, c *Conn) *Call {
	t.Helper()
	k, err := c.Go(Request{Form: form("cl:f")})
	if err != nil {
		t.Fatalf("Go: %v", err)
	}
	return k
}

// request is what mustGo sends.
func request(id int64) string {
	return fmt.Sprintf(`(:emacs-rex (cl:f) "COMMON-LISP-USER" t %d)`, id)
}

// A syncBuffer is a bytes.Buffer that may be read while it is written.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
