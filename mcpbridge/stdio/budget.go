package stdio

import "sync"

// What calls in flight may take together, before no more are read. A reply that
// waits for a client that does not read is several copies of its text.
const (
	flightBytes = 6 << 20
	replyBytes  = 48 << 10 // reserved for the reply of each call
)

// MaxBatch limits the messages of a batch: their answers are one line.
const MaxBatch = 100

// budget is what may be in flight. The zero value is ready.
type budget struct {
	mu    sync.Mutex
	used  int
	freed chan struct{} // non-nil while the reader waits; closed when used falls
}

// take waits until size more may be in flight, be it only because nothing else is,
// or until over is closed; then it returns false. Before it waits it calls waits.
func (b *budget) take(size int, over <-chan struct{}, waits func()) bool {
	for {
		b.mu.Lock()
		if b.used == 0 || b.used+size <= flightBytes {
			b.used += size
			b.mu.Unlock()
			return true
		}
		if b.freed == nil {
			b.freed = make(chan struct{})
		}
		freed := b.freed
		b.mu.Unlock()
		waits()
		select {
		case <-freed:
		case <-over:
			return false
		}
	}
}

func (b *budget) give(size int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used -= size
	if b.freed != nil {
		close(b.freed)
		b.freed = nil
	}
}
