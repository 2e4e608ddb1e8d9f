package stdio

import "sync"

// Order lets calls of one connection reach their handlers in the order in which they
// came. The SDK runs each request on a goroutine of its own, and those may overtake each
// other; so a transport that has delivered a call waits at its gate before it
// delivers the next message. The zero value is ready; with nil, messages wait at no gate.
type Order struct {
	mu      sync.Mutex
	current *gate // of the call delivered last
}

// gate is closed to the messages behind a call until the call has its place
// in the queue of its session, needs none, or has been answered.
type gate struct {
	once sync.Once
	open chan struct{}
}

func (g *gate) pass() {
	if g != nil {
		g.once.Do(func() { close(g.open) })
	}
}

// next returns the gate of the call that is about to be delivered.
func (o *Order) next() *gate {
	if o == nil {
		return nil
	}
	g := &gate{open: make(chan struct{})}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.current = g
	return g
}

// Admit passes the gate of the call delivered last. Its handler calls it.
func (o *Order) Admit() {
	if o == nil {
		return
	}
	o.mu.Lock()
	g := o.current
	o.current = nil
	o.mu.Unlock()
	g.pass()
}
