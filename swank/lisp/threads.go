package lisp

import (
	"context"

	"swank-mcp/swank/lisp/helper"
)

// MemoryReport tells how full the heap is and of what: the limit kinds of
// objects that take most of it. It takes at most about a second.
func (s *Session) MemoryReport(ctx context.Context, limit int) (*Finding, error) {
	return s.found(ctx, helper.NewCall("MEMORY-REPORT").Key("SESSION").Str(s.name).Key("LIMIT").Num(int64(limit)))
}

// Threads lists the threads of the image, on demand with where those of the
// program and of sessions are.
func (s *Session) Threads(ctx context.Context, backtraces bool) (*Finding, error) {
	c := helper.NewCall("LIST-THREADS").Key("SESSION").Str(s.name)
	if backtraces {
		c.Key("BACKTRACES").Yes()
	}
	return s.found(ctx, c)
}

// InterruptThread shows where a thread is, and with abort ends it; thread is
// its number or name. Threads that the image or the bridge stands on are not
// ended: the error may be a *LookupError.
func (s *Session) InterruptThread(ctx context.Context, thread string, abort bool) (*Finding, error) {
	action := "BACKTRACE"
	if abort {
		action = "ABORT"
	}
	return s.found(ctx, helper.NewCall("INTERRUPT-THREAD").Str(thread).Key(action).Key("SESSION").Str(s.name))
}
