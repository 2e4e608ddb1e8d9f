package hub

import (
	"context"
	"fmt"
	"sync"

	"swank-mcp/swank/lisp"
)

// owner is what the image of a session asks, as one of many.
type owner struct{ *Session }

var _ lisp.Owner = owner{}

// Admit implements lisp.Owner. A call that began while its image was given up has lost its place.
func (o owner) Admit(ctx context.Context) (ended func(), err error) {
	if err := o.hub.takePlace(ctx, o.Session); err != nil {
		return nil, err
	}
	return o.hub.starts.begin(ctx, o.Principal)
}

// BeginJob implements lisp.Owner. Several jobs in one image count once: they take one place.
func (o owner) BeginJob() (ended func(), refusal string) {
	h := o.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if o.jobs == 0 && h.o.Images > 0 {
		if refusal := h.jobRoomLocked(o.Principal); refusal != "" {
			h.counts.Refused++
			return nil, refusal
		}
	}
	o.jobs++
	return sync.OnceFunc(func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		o.jobs--
		h.changeLocked()
	}), ""
}

// jobRoomLocked says why no jobs may run in another image of the principal's; "" is that they may.
// Half of the images are for each principal, and three quarters for all: what lasts for hours
// leaves room for what comes.
func (h *Hub) jobRoomLocked(principal string) string {
	own, all := 0, 0
	for _, s := range h.allLocked() {
		if s.jobs > 0 {
			all++
			if s.Principal == principal {
				own++
			}
		}
	}
	const next = " Send the code without \"background\" to have it evaluated at once"
	switch mostOwn, mostAll := max(1, h.o.Images/2), max(1, h.o.Images*3/4); {
	case own >= mostOwn:
		return fmt.Sprintf("Jobs of yours run in %d of the %d Lisp images that this server may have, which is the limit for each of its users.%s, "+
			"or end a job in another session: session-status lists them there.", own, h.o.Images, next)
	case all >= mostAll:
		return fmt.Sprintf("Jobs run in %d of the %d Lisp images that this server may have, which is the limit for all of its users.%s.", all, h.o.Images, next)
	}
	return ""
}
