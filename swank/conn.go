package swank

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// Options configures a [Conn]. A nil *Options means the zero value.
type Options struct {
	// Handler is called for every debugger that Lisp enters, in the order of the
	// messages: before a call is done whose answer comes later. It runs
	// on the reader goroutine, and while it runs nothing is read and no call
	// completes. So it must not block: it may not use Go, Call, Wait or Close. May be nil.
	Handler func(*Debug)

	// Message is called with the text of every :background-message, which Lisp sends
	// when it likes, under the same rules as Handler. May be nil.
	Message func(text string)

	// Trace receives one line of text for each message in either direction.
	// The secret is never part of it. Writing must not block. nil: no trace.
	Trace io.Writer

	// WriteTimeout is how long the peer may take nothing of a frame before the
	// connection is given up. Lisp's own reader takes everything at once, so
	// only a stopped or dead process needs longer. 0: 30 s.
	WriteTimeout time.Duration

	// Patient, when not nil, is asked then, with how long nothing has been taken,
	// and again after every WriteTimeout: if it returns true, the connection is
	// not given up yet.
	Patient func(waited time.Duration) bool

	// Check, when not nil, is called by [Dial] with the connection before anything is
	// written; its error ends that.
	Check func(net.Conn) error

	// Secret, if not empty, is sent as the first packet, raw: see [ReadSecret].
	Secret string

	// Newline ends each request's payload with a newline, as SLIME does. Lisp
	// does not mind, and a server of another protocol, which may wait for the
	// end of a line, says what it is.
	Newline bool

	// FirstID is the id of the first request; ids go up by one. 0: 1. Clients
	// that share an image and send requests to each other's threads need
	// disjoint ranges, because Swank answers on the connection that owns the
	// thread.
	FirstID int64
}

// Conn is one connection to a Swank server. Its methods may be used from any
// goroutine.
type Conn struct {
	rwc     io.ReadWriteCloser
	opts    Options
	trace   *tracer
	done    chan struct{}
	flusher sync.WaitGroup
	closing sync.Once // of rwc

	wmu      sync.Mutex   // held while one frame is encoded and written
	wbuf     []byte       // the frame being written
	nextID   int64        // of the next request
	hello    []byte       // the secret's frame until it is written
	watchdog *time.Timer  // running while a Write is; fails the connection
	writing  atomic.Int64 // 1 + nanoseconds from born to when that began; 0: there is none
	born     time.Time

	local, remote net.Addr // nil where NewConn was given something else

	mu       sync.Mutex // guards what follows; never held while blocking
	err      error      // first cause of failure
	calls    map[int64]*Call
	debugs   map[ThreadID][]*Debug // open debuggers of each thread, by level
	open     int                   // debuggers in debugs
	queue    []byte                // encoded answers that the flusher is to write
	flushing bool
}

// Dial connects to a Swank server; network is "tcp" or "unix". ctx governs
// connecting only. Do not use it to probe a port: where a secret is asked,
// connecting and closing breaks the server's listener.
func Dial(ctx context.Context, network, addr string, o *Options) (*Conn, error) {
	var d net.Dialer
	nc, err := d.DialContext(ctx, network, addr)
	if err != nil {
		return nil, fmt.Errorf("swank: connecting: %w", err)
	}
	if o != nil && o.Check != nil {
		if err := o.Check(nc); err != nil {
			_ = nc.Close()
			return nil, fmt.Errorf("swank: connecting: %w", err)
		}
	}
	c := NewConn(nc, o)
	c.local, c.remote = nc.LocalAddr(), nc.RemoteAddr()
	return c, nil
}

// Addrs returns the two ends of a connection that [Dial] has made, nil of another.
func (c *Conn) Addrs() (local, remote net.Addr) { return c.local, c.remote }

// NewConn speaks Swank over rwc, which it owns from now on. Closing rwc must
// end a Read and a Write in progress, as it does with every [net.Conn].
func NewConn(rwc io.ReadWriteCloser, o *Options) *Conn {
	c := &Conn{
		rwc:    rwc,
		done:   make(chan struct{}),
		born:   time.Now(),
		calls:  make(map[int64]*Call),
		debugs: make(map[ThreadID][]*Debug),
	}
	if o != nil {
		c.opts = *o
	}
	if c.opts.WriteTimeout <= 0 {
		c.opts.WriteTimeout = 30 * time.Second
	}
	if c.opts.Trace != nil {
		c.trace = &tracer{w: c.opts.Trace}
	}
	c.nextID = max(1, c.opts.FirstID)
	c.watchdog = time.AfterFunc(math.MaxInt64, c.bark) // started by the first write
	c.watchdog.Stop()
	go c.read()
	if c.opts.Secret != "" {
		c.authenticate(c.opts.Secret)
		c.opts.Secret = ""
	}
	return c
}

// authenticate has the secret written before anything else. It does not wait:
// the flusher writes it at once, unless a request comes first and takes it along.
func (c *Conn) authenticate(secret string) {
	b := append(make([]byte, headerLen), secret...)
	if err := finishFrame(b, 0); err != nil {
		c.fail(&ConnError{"authenticate", err})
		return
	}
	c.wmu.Lock()
	c.hello = b
	c.wmu.Unlock()
	c.mu.Lock()
	c.startFlusher()
	c.mu.Unlock()
}

// Close closes the connection and waits until its goroutines have ended; calls
// still pending return [ErrClosed]. It returns nil, or the cause if the
// connection had failed before. Calls that are in a debugger leave their Lisp
// threads there for ever: end those first, see [Conn.Debugs].
func (c *Conn) Close() error {
	c.fail(ErrClosed)
	if err := c.Wait(); !errors.Is(err, ErrClosed) {
		return err
	}
	return nil
}

// Wait waits until the connection has ended and returns the cause: [ErrClosed]
// or a [ConnError].
func (c *Conn) Wait() error {
	<-c.done
	return c.Err()
}

// Done returns a channel that is closed when the connection has ended, all
// calls are done and no goroutine of the connection is left.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Err returns nil while the connection works, and then the first cause of its
// failure, the same that every call gets.
func (c *Conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// fail ends the connection with err, unless it has failed already. The reader
// does the rest when its Read returns.
func (c *Conn) fail(err error) {
	c.refuse(err)
	c.closing.Do(func() { c.rwc.Close() })
}

// refuse makes err the cause of failure, unless there is one, without closing
// the stream.
func (c *Conn) refuse(err error) {
	c.mu.Lock()
	if c.err == nil {
		c.err = err
	}
	c.mu.Unlock()
}

// read is the reader goroutine.
func (c *Conn) read() {
	c.fail(c.readFrames())
	c.watchdog.Stop()

	c.mu.Lock()
	calls, cause := c.calls, c.err
	c.calls, c.debugs, c.queue = nil, nil, nil
	for _, k := range calls {
		k.debug = nil
	}
	c.mu.Unlock()
	for _, k := range calls {
		k.complete(nil, cause)
	}
	c.flusher.Wait()
	close(c.done)
}

// readFrames reads and dispatches until the connection fails, and returns why.
// A panic, in here or in a handler, is a cause like any other: an image must
// not be able to end this process.
func (c *Conn) readFrames() (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &ConnError{"read", fmt.Errorf("panic: %v\n%s", p, debug.Stack())}
		}
	}()
	frames := newFrameReader(c.rwc)
	for {
		f, err := frames.next()
		if err != nil {
			return &ConnError{"read", err}
		}
		c.trace.message("<<", f.payload)
		c.dispatch(f)
		runtime.Gosched() // who waits for it goes first, not the next read
	}
}
