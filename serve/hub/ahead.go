package hub

import (
	"context"
	"math"

	"swank-mcp/serve/pool"
)

// Ahead are images that are started before there is a session that wants them: a [pool.Pool],
// whose methods say what these do. They count among the images, and give way to those that
// sessions have.
type Ahead interface {
	Fill(ctx context.Context, room func() int)
	Look()
	Counts() pool.Counts
}

// room is how many images there may be that nobody wants yet.
func (h *Hub) room() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.closed:
		return 0
	case h.o.Images <= 0:
		return math.MaxInt
	}
	return max(0, h.o.Images-h.awake)
}

// Ahead counts the images that no session has, and what has become of others.
func (h *Hub) Ahead() pool.Counts {
	if h.o.Ahead == nil {
		return pool.Counts{}
	}
	return h.o.Ahead.Counts()
}
