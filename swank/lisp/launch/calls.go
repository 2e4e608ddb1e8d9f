package launch

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"swank-mcp/sexp"
	"swank-mcp/swank/lisp/host"
)

// calls is where the copies of a line call in, each on a connection of its own: by that
// we tell them what to do, and they learn that we have ended. One goroutine accepts
// the connections, and one lets go of orphans, which hangUp ends; one belongs to each
// process, from its call to its end.
type calls struct {
	mu       sync.Mutex
	listener *net.UnixListener
	closed   bool
	over     chan struct{} // closed with listener
	number   int           // of the last process that was asked for
	waiting  map[callKey]*awaited
	peers    map[*peer]bool
	greeting map[*net.UnixConn]bool // those whose process has not said yet who it is
	work     sync.WaitGroup
}

// A callKey is what a process says that it is: a copy, or what has come of one, an image
// or a process that saves a core.
type callKey struct {
	copy   bool
	number int
}

// awaited is a process that was asked for, until it has called or nobody wants it any more.
type awaited struct {
	key   callKey
	came  chan *peer    // holds it when it has called
	known chan struct{} // closed when pid is set, which the process is before it has called
	pid   int
	lost  chan struct{} // closed when it has ended and has not called
	over  chan struct{} // closed when it is waited for no more
}

// A peer is one process that has called.
type peer struct {
	conn   *net.UnixConn
	in     *bufio.Reader
	child  *os.Process
	status imageStatus      // of an image: that it serves
	heap   heapStatus       // of a process that saves a core
	state  *os.ProcessState // how it ended, if we were let wait for it
	done   chan struct{}    // closed when it has ended
}

// hello is the first message of a process.
type hello struct {
	Copy    int `sexp:"copy"`
	Working int `sexp:"working"`
	Saving  int `sexp:"saving"`
	PID     int `sexp:"pid"`
}

// callsName is the name of the socket in the directory of a line.
const callsName = "calls.sock"

// listen returns the address at which processes call, which is there from the first
// time on.
func (l *line) listen() (address string, err error) {
	c := &l.calls
	c.mu.Lock()
	defer c.mu.Unlock()
	address = filepath.Join(l.runDir, callsName)
	if len(address) > maxSocketPath || !ascii(address) {
		return "", fmt.Errorf("the path of a socket in %s would be too long or not of ASCII: set TMPDIR to another directory", l.runDir)
	}
	if c.closed {
		return "", net.ErrClosed
	}
	if c.listener != nil {
		return address, nil
	}
	adopt()
	c.listener, err = net.ListenUnix("unix", &net.UnixAddr{Name: address, Net: "unix"})
	if err != nil {
		return "", err
	}
	c.waiting, c.peers, c.greeting = map[callKey]*awaited{}, map[*peer]bool{}, map[*net.UnixConn]bool{}
	c.over = make(chan struct{})
	listener, over := c.listener, c.over
	c.work.Go(func() { reapOrphans(over) })
	c.work.Go(func() {
		for {
			conn, err := listener.AcceptUnix()
			if err != nil {
				return
			}
			if c.greet(conn) {
				c.work.Go(func() { c.take(conn) })
			}
		}
	})
	return address, nil
}

// helloTime is how long a process may take to say who it is and, if it is an image, until
// it serves; of the time in which it could act.
const helloTime = 30 * time.Second

// collectTime is how long a process that saves a core may take to collect its garbage; of the
// time in which it could act.
const collectTime = time.Minute

var errSilent = errors.New("it says nothing")

// greet notes that a process has called, unless nobody is wanted any more.
func (c *calls) greet(conn *net.UnixConn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		_ = conn.Close()
		return false
	}
	c.greeting[conn] = true
	return true
}

// take reads who has called, gives the connection to whoever waits for that, and returns
// when the process has ended.
func (c *calls) take(conn *net.UnixConn) {
	p := &peer{conn: conn, in: bufio.NewReader(conn), done: make(chan struct{})}
	defer conn.Close()
	said := p.speaksWithin(peerPID(conn), helloTime)
	var h hello
	if p.read(&h) != nil || h.PID < 2 || !isPeer(conn, h.PID) { // 1 and 0 are groups of others: they are not to be killed
		c.mu.Lock()
		delete(c.greeting, conn)
		c.mu.Unlock()
		_ = p.tell(dropCommand{true}) // it may be a copy, see [Copy.Drop]
		said()
		return
	}
	p.child, _ = os.FindProcess(h.PID) // on Unix there is always one
	defer host.Own(h.PID)()
	if h.Working != 0 && (p.read(&p.status) != nil || !p.status.Ready) {
		host.KillGroup(p.child)
	}
	said()
	if h.Saving != 0 {
		collected := p.speaksWithin(h.PID, collectTime)
		if p.read(&p.heap) != nil {
			host.KillGroup(p.child)
		}
		collected()
	}
	c.mu.Lock()
	delete(c.greeting, conn)
	key := callKey{copy: h.Copy != 0, number: cmp.Or(h.Copy, h.Working, h.Saving)}
	a := c.waiting[key]
	if a == nil || c.closed { // nobody wants it any more; it is to see no end of its connection before
		host.KillGroup(p.child)
	} else {
		c.drop(a)
		c.peers[p] = true
		a.came <- p
	}
	c.mu.Unlock()
	heard := make(chan struct{})
	c.work.Go(func() {
		defer close(heard)
		c.hear(p)
	})
	p.await(heard)
	close(p.done)
	c.mu.Lock()
	delete(c.peers, p)
	c.mu.Unlock()
	if h.Copy != 0 { // an image's is seen to by [Process.ended]
		host.KillGroup(p.child)
		reapGroup(p.child.Pid)
	}
}

// speaksWithin has what is read from p fail when the process pid could act for limit, until
// the caller calls stop.
func (p *peer) speaksWithin(pid int, limit time.Duration) (stop func()) {
	bounded, cancel := host.Within(context.Background(), pid, limit, errSilent)
	fired := make(chan struct{})
	unheeded := context.AfterFunc(bounded, func() {
		defer close(fired)
		_ = p.conn.SetReadDeadline(time.Unix(1, 0))
	})
	return func() {
		if !unheeded() {
			<-fired
		}
		cancel()
		_ = p.conn.SetReadDeadline(time.Time{})
	}
}

// forked is what a copy says when it has made a process that was asked for.
type forked struct {
	Number int `sexp:"forked"`
	PID    int `sexp:"pid"`
}

// hear hears what p says later, until its connection ends.
func (c *calls) hear(p *peer) {
	for {
		var f forked
		if p.read(&f) != nil {
			return
		}
		c.mu.Lock()
		a := c.waiting[callKey{false, f.Number}]
		c.mu.Unlock()
		if a != nil {
			c.know(a, f.PID)
		}
	}
}

// know says which process a is. Its end is noted, where the system tells it, if it ends
// before it has called.
func (c *calls) know(a *awaited, pid int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting[a.key] != a || a.pid != 0 || pid < 2 || c.closed {
		return
	}
	a.pid = pid
	close(a.known)
	c.work.Go(func() {
		if !seeEnd(pid, a.over) {
			return
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.waiting[a.key] == a { // what it has said before its end was not read yet, or it said nothing
			close(a.lost)
		}
	})
}

// await returns when the process has ended. Where the system has made it our child, it
// says how; else the end of its connection tells, after which heard is closed.
func (p *peer) await(heard <-chan struct{}) {
	for {
		awaitEnd(p.child.Pid)
		state, err := p.child.Wait()
		if err == nil {
			p.state = state
			return
		}
		if !adopts || !errors.Is(err, syscall.ECHILD) {
			break
		}
		// It becomes our child when the process between has ended, which does so at once.
		between := parentOf(p.child.Pid)
		if between < 2 {
			break
		}
		if between != os.Getpid() {
			awaitEnd(between)
		}
	}
	<-heard
}

// expect has the process of that kind with the next number taken when it calls.
func (c *calls) expect(copy bool) *awaited {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.number++
	a := &awaited{key: callKey{copy, c.number}, came: make(chan *peer, 1), known: make(chan struct{}), lost: make(chan struct{}), over: make(chan struct{})}
	c.waiting[a.key] = a
	return a
}

// errLost is the end of a process before it has called.
var errLost = errors.New("the process has ended at once")

// called waits until a has called, or has ended before. It wants it no more when ctx ends.
func (c *calls) called(ctx context.Context, a *awaited) (*peer, error) {
	var err error
	select {
	case p := <-a.came:
		return p, nil
	case <-a.lost:
		err = errLost
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	c.forget(a)
	return nil, err
}

// forget has the process ended when it calls, or at once if it has.
func (c *calls) forget(a *awaited) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(a)
	select {
	case p := <-a.came:
		host.KillGroup(p.child)
	default:
	}
}

// drop ends the waiting for a, if it is waited for. The caller holds mu.
func (c *calls) drop(a *awaited) {
	if c.waiting[a.key] == a {
		delete(c.waiting, a.key)
		close(a.over)
	}
}

// read reads one message.
func (p *peer) read(v any) error {
	message, err := p.in.ReadBytes(0)
	if err != nil {
		return err
	}
	return sexp.Unmarshal(message[:len(message)-1], v)
}

// tell writes one message.
func (p *peer) tell(v any) error {
	message, err := sexp.Marshal(v)
	if err == nil {
		_, err = p.conn.Write(append(message, 0))
	}
	return err
}

// end kills the process and returns when it has ended.
func (p *peer) end() {
	select {
	case <-p.done:
	default:
		host.KillGroup(p.child)
		<-p.done
	}
}

// hangUp ends the copies: they see the end of their connections.
func (c *calls) hangUp() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.listener != nil && !c.closed {
		_ = c.listener.Close()
		close(c.over)
		for _, a := range c.waiting {
			c.drop(a)
		}
	}
	c.closed = true
	for p := range c.peers {
		_ = p.conn.Close()
	}
	for conn := range c.greeting {
		_ = conn.Close()
	}
}

// end kills all processes that have called, and returns when they have ended.
func (c *calls) end() {
	c.mu.Lock()
	peers := make([]*peer, 0, len(c.peers))
	for p := range c.peers {
		peers = append(peers, p)
	}
	c.mu.Unlock()
	for _, p := range peers {
		p.end()
	}
	c.work.Wait()
}

var errNoCopy = errors.New("the copy has ended")
