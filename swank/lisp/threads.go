package lisp

import "context"

// MemoryReport tells how full the heap is and of what: the limit kinds of
// objects that take most of it. It takes at most about a second.
func (im *Image) MemoryReport(ctx context.Context, session string, limit int) (*Finding, error) {
	return im.found(ctx, session, newHelperCall("MEMORY-REPORT").key("SESSION").str(session).key("LIMIT").num(int64(limit)))
}

// Threads lists the threads of the image, on demand with where those of the
// program and of sessions are.
func (im *Image) Threads(ctx context.Context, session string, backtraces bool) (*Finding, error) {
	c := newHelperCall("LIST-THREADS").key("SESSION").str(session)
	if backtraces {
		c.key("BACKTRACES").yes()
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
	return im.found(ctx, session, newHelperCall("INTERRUPT-THREAD").str(thread).key(action).key("SESSION").str(session))
}
