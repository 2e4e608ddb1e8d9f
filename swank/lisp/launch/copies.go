package launch

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"swank-mcp/swank/lisp/host"
)

// Copy is a copy of an image as it was at one moment. It waits, using no time, until
// images are started from it, each of which is a copy of its own.
type Copy struct {
	line   *line
	number int
	peer   *peer
	from   *Process
}

// callTime is how long a copy may take to call, of the time in which it could act.
const callTime = 10 * time.Second

// ErrNoCall is the error of a copy that was made and did not call.
var ErrNoCall = errors.New("a copy of the image was made, but did not reach the server")

// Copy makes a copy of the image. take asks the image for it: the copy is to call at
// address as number; pid is its process, 0 if that is not known. Copy returns when it waits.
// The error is that of take, or [ErrNoCall].
func (p *Process) Copy(ctx context.Context, take func(address string, number int) (pid int, err error)) (*Copy, error) {
	address, err := p.listen()
	if err != nil {
		return nil, err
	}
	a := p.calls.expect(true)
	pid, err := take(address, a.key.number)
	if err != nil {
		p.calls.forget(a)
		return nil, err
	}
	p.calls.know(a, pid) // it may have ended with the image, before it left its group
	bounded, cancel := host.Within(ctx, pid, callTime, ErrNoCall)
	defer cancel()
	peer, err := p.calls.called(bounded, a)
	if errors.Is(err, errLost) {
		err = ErrNoCall
	}
	if err != nil {
		return nil, err
	}
	return &Copy{line: p.line, number: a.key.number, peer: peer, from: p}, nil
}

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
	a := l.calls.expect(false)
	socket := filepath.Join(l.runDir, fmt.Sprintf("%d.sock", a.key.number))
	if err := c.peer.tell(startCommand{a.key.number, socket}); err != nil {
		l.calls.forget(a)
		return nil, fmt.Errorf("%w: %w", errNoCopy, err)
	}
	peer, err := c.called(ctx, a, helloTime, errNoImage)
	if err != nil {
		return nil, err
	}
	if !peer.status.Ready {
		peer.end()
		return nil, errors.New("the image that the copy started does not serve")
	}
	p := &Process{line: l, fromCore: c.from.fromCore, core: c.from.core, status: peer.status, pid: peer.child.Pid, child: peer.child, socket: socket, peer: peer, before: before, done: make(chan struct{})}
	l.calls.work.Go(func() {
		<-peer.done
		p.ended(peer.state)
	})
	return p, nil
}

var errNoImage = errors.New("the image that the copy started has ended, or does not call")

// called waits for a process that the copy was told to start. The error is silent when the
// process has ended, or it or before it the copy could act for limit.
func (c *Copy) called(ctx context.Context, a *awaited, limit time.Duration, silent error) (*peer, error) {
	over, end := context.WithCancelCause(ctx)
	defer end(nil)
	go func() {
		select {
		case <-c.peer.done:
			end(errNoCopy)
		case <-over.Done():
		}
	}()
	go func() {
		forking, cancel := host.Within(over, c.PID(), limit, silent)
		select {
		case <-a.known:
		case <-forking.Done():
			end(context.Cause(forking))
			cancel()
			return
		}
		cancel()
		calling, cancel := host.Within(over, a.pid, limit, silent)
		<-calling.Done()
		end(context.Cause(calling))
		cancel()
	}()
	p, err := c.line.calls.called(over, a)
	if errors.Is(err, errLost) {
		err = silent
	}
	return p, err
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
