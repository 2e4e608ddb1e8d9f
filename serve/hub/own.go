package hub

import (
	"context"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Lease says that this server has a session, of which others could be the owner.
type Lease interface {
	Lost() error           // nil while it has
	Wanted() time.Duration // for how long another server has wanted it; 0 is not
	Release()              // gives it up; nothing of it is written after that
}

// ending is the time in which a named session is ended, or this server becomes its owner.
type ending struct {
	over chan struct{} // closed then
	err  error         // why this server has not become that; there when over is closed
}

// ownLocked makes the session of that name, after this server has become its owner. It
// unlocks the hub meanwhile; others wait who want the same one.
func (h *Hub) ownLocked(id ID) (*Session, error) {
	if h.closed {
		return nil, ErrClosed
	}
	if err := h.roomLocked(id.Principal); err != nil { // before anything is left on the disk
		return nil, err
	}
	this := &ending{over: make(chan struct{})}
	h.ending[id] = this
	h.mu.Unlock()
	lease, err := h.o.Own(id)
	if err == nil {
		h.tidyHandshakes(id)
	}
	h.mu.Lock()
	defer func() {
		delete(h.ending, id)
		close(this.over)
	}()
	if err != nil {
		this.err = err
		return nil, err
	}
	s, err := h.addLocked(id) // the room may be gone by now
	if err != nil {
		h.mu.Unlock()
		lease.Release() // before somebody else here may ask for it again
		h.mu.Lock()
		return nil, err
	}
	s.lease = lease
	h.named[id] = s
	return s, nil
}

// yieldTime is how often the hub looks which sessions others want, or have.
const yieldTime = 50 * time.Millisecond

// yieldPatience is how long a session that another server wants stays for the sake of what
// runs in the background, waits in the debugger, or could not be kept: there, nobody can reach
// it any more.
const yieldPatience = 20 * time.Second

// yield ends the sessions that this server has lost, and gives up those that others want as
// soon as nobody uses them, until the hub is closed. Their definitions are on the disk.
func (h *Hub) yield() {
	h.repeat(yieldTime, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		for _, s := range h.named {
			if h.closed {
				break
			}
			if lost := s.lost(); lost != nil || s.yieldsLocked() {
				s.log.Info("another server gets the session", "lost", lost)
				over := h.removeLocked(s)
				h.work.Go(func() { h.finish(s, over) })
			}
		}
	})
}

// lost says why the session is this server's no more; nil: it is.
func (s *Session) lost() error {
	if s.lease == nil {
		return nil
	}
	return s.lease.Lost()
}

// yieldsLocked reports whether the session is to be given up now.
func (s *Session) yieldsLocked() bool {
	wanted := s.lease.Wanted()
	if wanted == 0 || s.users > 0 {
		return false
	}
	w := s.Work()
	unkept := w.Kept != nil && w.Kept.Problem() != "" // the next one would not have all
	return wanted > yieldPatience || !unkept && (!s.awake || !w.Image.InUse())
}

// certain has nothing said to be done that the next owner of the session may not know of.
func (s *Session) certain(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		res, err := next(ctx, method, r)
		if lost := s.lost(); lost != nil {
			return nil, &jsonrpc.Error{Code: codeUncertain, Message: "Whether this was done is not certain: " + lost.Error() + "."}
		}
		return res, err
	}
}

// codeUncertain is a JSON-RPC code that is the server's own.
const codeUncertain = -32000
