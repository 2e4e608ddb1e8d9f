package lisp

import (
	"context"
	"errors"
	"time"
)

// Look is a look-up that was answered: it has evaluated nothing.
type Look struct {
	Arguments string    // with which the tool was called, one line
	Began     time.Time // when it was
	Failed    string    // why there is no answer; "" if there is one
}

// Looked tells subscribers that a look-up in the session was answered, for the client and the
// tool of [ByClient] and [ByTool] in ctx. Evaluations pay nothing for it.
func (s *Session) Looked(ctx context.Context, l Look) {
	if !s.im.events.wanted() {
		return
	}
	ev := Event{Kind: EventLooked, Session: s.name, Text: l.Arguments, Elapsed: time.Since(l.Began)}
	ev.Client, _ = ctx.Value(clientKey{}).(string)
	ev.Version, _ = ctx.Value(versionKey{}).(string)
	ev.Tool, _ = ctx.Value(toolKey{}).(string)
	if l.Failed != "" {
		ev.Err = errors.New(l.Failed)
	}
	s.im.events.publish(ev)
}
