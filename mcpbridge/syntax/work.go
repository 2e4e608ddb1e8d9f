package syntax

import "context"

// What a text may have, and what a call may do with it. docs/howto/compile.md tells it.
const (
	MaxText  = 16 << 20 // bytes of a text that is checked
	MaxDepth = 200_000  // lists and prefixes around a place

	stepsPerByte = 16 // of a text; one without #+ inside of #+ needs 8
	leastSteps   = 10_000
)

// work counts what a call does: bytes that are looked at, and forms that are weighed. A call
// that has made all its steps, or whose context has ended, comes to no result.
type work struct {
	ctx         context.Context
	steps, most int
	look        int // at how many steps the context is looked at again
	over        bool
}

func workOn(ctx context.Context, text string) *work {
	w := &work{ctx: ctx, most: leastSteps + stepsPerByte*len(text)}
	w.over = ctx.Err() != nil
	return w
}

// lookEvery counts the steps between two looks at the context.
const lookEvery = 1 << 16

// step counts n steps, and reports whether the call may go on.
func (w *work) step(n int) bool {
	if w.steps += n; w.steps >= w.look {
		w.look = w.steps + lookEvery
		w.over = w.over || w.ctx.Err() != nil
	}
	w.over = w.over || w.steps > w.most
	return !w.over
}

// why is why the call is over.
func (w *work) why() string {
	if w.ctx.Err() != nil {
		return "the call has ended"
	}
	return "that takes more steps than a text of its length may"
}
