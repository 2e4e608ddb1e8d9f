package lisp

import (
	"context"

	"swank-mcp/swank/lisp/helper"
)

// MemoryReport tells how full the heap is and of what: the limit kinds of
// objects that take most of it. It takes at most about a second.
func (im *Image) MemoryReport(ctx context.Context, session string, limit int) (*Finding, error) {
	return im.found(ctx, session, helper.NewCall("MEMORY-REPORT").Key("SESSION").Str(session).Key("LIMIT").Num(int64(limit)))
}

// Threads lists the threads of the image, on demand with where those of the
// program and of sessions are.
func (im *Image) Threads(ctx context.Context, session string, backtraces bool) (*Finding, error) {
	c := helper.NewCall("LIST-THREADS").Key("SESSION").Str(session)
	if backtraces {
		c.Key("BACKTRACES").Yes()
	}
	return im.found(ctx, session, c)
}

// InterruptThread shows where a thread is, and with abort ends it; thread is
// its number or name. Threads that the image or the bridge stands on are not
// ended: the error may be a *LookupError.
func (im *Image) InterruptThread(ctx context.Context, session, thread string, abort bool) (*Finding, error) {
	action := "BACKTRACE"
	if abort {
		action = "ABORT"
	}
	return im.found(ctx, session, helper.NewCall("INTERRUPT-THREAD").Str(thread).Key(action).Key("SESSION").Str(session))
}
