package launch

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

// Copy is a copy of an image as it was at one moment. It waits, using no time, until
// images are started from it, each of which is a copy of its own.
type Copy struct {
	line   *line
	number int
	peer   *peer
	from   *Process
}

// callTime is how long a copy may take to call.
const callTime = 10 * time.Second

// ErrNoCall is the error of a copy that was made and did not call.
var ErrNoCall = errors.New("a copy of the image was made, but did not reach the server")

// Copy makes a copy of the image. take asks the image for it: the copy is to call at
// address as number. Copy returns when it waits. The error is that of take, or [ErrNoCall].
func (p *Process) Copy(ctx context.Context, take func(address string, number int) error) (*Copy, error) {
	address, err := p.listen()
	if err != nil {
		return nil, err
	}
	number, ch := p.calls.expect(true)
	if err := take(address, number); err != nil {
		p.calls.forget(true, number, ch)
		return nil, err
	}
	// The copy may have ended with the image, before it left its group.
	soon, stop := context.WithTimeoutCause(ctx, callTime, ErrNoCall)
	defer stop()
	over, cancel := context.WithCancelCause(soon)
	defer cancel(nil)
	go func() {
		select {
		case <-p.done:
		case <-over.Done():
			return
		}
		select {
		case <-time.After(copyGrace):
			cancel(errNoCopy)
		case <-over.Done():
		}
	}()
	peer, err := p.calls.called(over, true, number, ch)
	if err != nil {
		return nil, err
	}
	return &Copy{line: p.line, number: number, peer: peer, from: p}, nil
}

// copyGrace is how long after the end of its image a copy may take to call.
const copyGrace = time.Second

// startCommand is what a copy gets to start an image.
type startCommand struct {
	Number int    `sexp:"number"`
	Socket string `sexp:"socket"`
}

// dropCommand ends a copy while others of its line go on.
type dropCommand struct {
	Drop bool `sexp:"drop"`
}

// Start starts an image that goes on where the copy was taken. The copy stays.
func (c *Copy) Start(ctx context.Context) (_ *Process, err error) {
	l := c.line
	before := l.errorsSoFar()
	number, ch := l.calls.expect(false)
	socket := filepath.Join(l.runDir, fmt.Sprintf("%d.sock", number))
	if err := c.peer.tell(startCommand{number, socket}); err != nil {
		l.calls.forget(false, number, ch)
		return nil, fmt.Errorf("%w: %w", errNoCopy, err)
	}
	peer, err := c.called(ctx, number, ch)
	if err != nil {
		return nil, err
	}
	if !peer.status.Ready {
		peer.end(ctx)
		return nil, errors.New("the image that the copy started does not serve")
	}
	p := &Process{line: l, fromCore: c.from.fromCore, core: c.from.core, status: peer.status, pid: peer.child.Pid, child: peer.child, socket: socket, peer: peer, before: before, done: make(chan struct{})}
	l.calls.work.Go(func() {
		<-peer.done
		p.ended(peer.state)
	})
	return p, nil
}

// called waits for a process that the copy was told to start.
func (c *Copy) called(ctx context.Context, number int, ch chan *peer) (*peer, error) {
	bounded, stop := context.WithTimeoutCause(ctx, helloTime, errors.New("the image that the copy started has ended, or does not call"))
	defer stop()
	over, cancel := context.WithCancelCause(bounded)
	defer cancel(nil)
	go func() {
		select {
		case <-c.peer.done:
			cancel(errNoCopy)
		case <-over.Done():
		}
	}()
	return c.line.calls.called(over, false, number, ch)
}

// Drop ends the copy. It does not wait for its end.
func (c *Copy) Drop() {
	// Without this the copy takes it that we have ended, and removes the directory.
	_ = c.peer.tell(dropCommand{true})
	_ = c.peer.conn.Close()
}

// Alive reports whether the copy still waits.
func (c *Copy) Alive() bool {
	select {
	case <-c.peer.done:
		return false
	default:
		return true
	}
}

// PID is its process id.
func (c *Copy) PID() int { return c.peer.child.Pid }

// Memory is how many bytes of the machine's memory would be free without the copies, of
// which image is the process that goes on. It is 0 where the system does not tell.
func Memory[C interface{ PID() int }](copies []C, image int) int64 {
	var sum int64
	for _, c := range copies {
		share, _ := memoryOf(c.PID())
		sum += share
	}
	// What the image has in common with its copies it would have alone.
	share, whole := memoryOf(image)
	return max(sum-(whole-share), 0)
}
