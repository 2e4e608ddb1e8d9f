package stdio

import (
	"io"
	"sync/atomic"
	"time"
)

// outlet is the output of a connection. It knows since when a client has taken nothing of
// what is being written.
type outlet struct {
	io.Writer
	began atomic.Int64 // of the piece that is being written, in Unix nanoseconds; 0: there is none
}

// pieceBytes limits one write: a longer one may take a client that reads as long as one that does
// not read.
const pieceBytes = 32 << 10

// Write writes b piece by piece. It is called by one goroutine at a time.
func (o *outlet) Write(b []byte) (written int, err error) {
	defer o.began.Store(0)
	for first := true; first || len(b) > 0; first = false {
		o.began.Store(time.Now().UnixNano())
		n, err := o.Writer.Write(b[:min(len(b), pieceBytes)])
		written += n
		if err != nil {
			return written, err
		}
		b = b[n:]
	}
	return written, nil
}

// standsStill reports whether the client has taken nothing for that long.
func (o *outlet) standsStill(limit time.Duration) bool {
	began := o.began.Load()
	return began != 0 && time.Since(time.Unix(0, began)) > limit
}

const (
	// unreadLimit bounds the time in which a client with a closed input may take nothing of a
	// pending write. After that the client counts as gone.
	unreadLimit = 3 * time.Second
	// unreadEvery spaces the looks at that.
	unreadEvery = 250 * time.Millisecond
)

// mayLeave has the connection seen off if its client has gone. It is called at the end of the
// input, and when requests wait for their turn: the end cannot be read behind them, and they
// wait until answers are read. The goroutine that it starts ends with the connection.
func (c *Conn) mayLeave() { c.leaving.Do(func() { go c.seeOff() }) }

// seeOff closes the connection when its client has closed its end of the input and reads nothing.
func (c *Conn) seeOff() {
	look := time.NewTicker(unreadEvery)
	defer look.Stop()
	for {
		select {
		case <-c.closed:
			return
		case <-look.C:
		}
		if c.out.standsStill(unreadLimit) && (c.ended.Load() || hungUp(c.in)) {
			_ = c.Close()
			return
		}
	}
}
