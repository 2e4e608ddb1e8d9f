package swank

import (
	"errors"
	"fmt"
	"time"
)

const (
	// A larger write buffer is not kept for the next frame.
	keepBuffer = 64 << 10

	// maxQueue bounds the answers that wait for a peer that asks but does not
	// read. Each Lisp thread waits for one answer at a time, so an honest peer
	// needs some 30 bytes a thread.
	maxQueue = 1 << 20

	// writePiece is how much of a frame has to be taken for the watchdog to
	// begin anew.
	writePiece = 64 << 10

	// drainTime is how long the reader may go on after a failed write.
	drainTime = 500 * time.Millisecond
)

// write writes one encoded frame or several. c.wmu is held, which makes c.wbuf
// the caller's to encode into.
func (c *Conn) write(frames []byte) error {
	if err := c.Err(); err != nil {
		return err
	}
	if cap(frames) <= keepBuffer {
		c.wbuf = frames[:0]
	}
	if c.hello != nil {
		frames = append(c.hello, frames...)
		c.trace.secret()
		c.trace.frames(frames[len(c.hello):])
		c.hello = nil
	} else {
		c.trace.frames(frames)
	}
	if err := c.writeAll(frames); err != nil {
		c.refuse(&ConnError{"write", err})
		// Mostly the peer is gone, and what it said before is yet to be read:
		// the stream is closed when it ends, or by the watchdog.
		c.watchdog.Reset(drainTime)
		return c.Err()
	}
	return nil
}

// writeAll writes b. The watchdog sees to it that this ends.
func (c *Conn) writeAll(b []byte) (err error) {
	for err == nil && len(b) > 0 {
		n := min(len(b), writePiece)
		c.writing.Store(int64(time.Since(c.born)) + 1)
		c.watchdog.Reset(c.opts.WriteTimeout)
		_, err = c.rwc.Write(b[:n])
		b = b[n:]
	}
	c.writing.Store(0)
	c.watchdog.Stop()
	return err
}

// bark is called when the watchdog's time is over.
func (c *Conn) bark() {
	if c.Err() != nil { // a write has failed before
		c.fail(c.Err())
		return
	}
	began := c.writing.Load()
	if began == 0 {
		return // it was written just now
	}
	waited := time.Since(c.born) - time.Duration(began-1)
	if waited < c.opts.WriteTimeout {
		c.watchdog.Reset(c.opts.WriteTimeout - waited)
		return
	}
	if c.opts.Patient != nil && c.opts.Patient(waited) {
		c.watchdog.Reset(c.opts.WriteTimeout)
		return
	}
	c.fail(&ConnError{"write", fmt.Errorf("%w after %v", ErrWriteTimeout, waited.Round(100*time.Millisecond))})
}

// post queues encoded frames for the flusher.
func (c *Conn) post(frames []byte) error {
	c.mu.Lock()
	if c.err != nil {
		defer c.mu.Unlock()
		return c.err
	}
	if len(c.queue)+len(frames) > maxQueue {
		c.mu.Unlock()
		c.fail(&ConnError{"write", errors.New("the peer asks but does not read")})
		return c.Err()
	}
	c.queue = append(c.queue, frames...)
	c.startFlusher()
	c.mu.Unlock()
	return nil
}

// startFlusher sees to it that a flusher runs. c.mu is held.
func (c *Conn) startFlusher() {
	if c.flushing || c.err != nil {
		return
	}
	c.flushing = true
	c.flusher.Go(c.flush)
}

// flush is the flusher goroutine: it writes what is queued and ends when there
// is no more, or when the connection has failed.
func (c *Conn) flush() {
	for {
		c.wmu.Lock()
		c.mu.Lock()
		b := c.queue
		if c.err != nil || len(b) == 0 && c.hello == nil {
			c.flushing = false
			c.mu.Unlock()
			c.wmu.Unlock()
			return
		}
		c.queue = nil
		c.mu.Unlock()
		c.write(b)
		c.wmu.Unlock()
	}
}
