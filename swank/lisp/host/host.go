// Package host is what the rooms below swank/lisp agree on: what package lisp
// asks of the process that an image runs in, one that package launch has
// started or a person's that package attach has connected to, and the error of
// both that there is none. It knows neither of them and nothing of Swank.
//
// Packages launch, attach and lisp use it. Begin reading with [Host].
package host

import "context"

// Host is what an image runs in: a process that we have started and that ends
// with us, or one of somebody else's that we are a guest in. The image's own
// side of it, threads and definitions, is the same for both.
type Host interface {
	// Address returns what net.Dial takes to reach Swank.
	Address() (network, address string)
	PID() int // 0 if unknown
	// Remarks returns what there is to say about the start, one line each.
	Remarks() []string
	FromCore() bool // started from the cached core

	// Exited is closed when the process has ended; nil if we cannot know.
	Exited() <-chan struct{}
	HasExited() bool
	ExitText() string   // how it ended
	LastErrors() string // last lines of its standard error

	// Settle returns when Background would return all that was written before
	// to descriptors 1 and 2, if those are ours.
	Settle()
	Background() Text // what reached descriptors 1 and 2 since it was last called
	// Flushed returns what an evaluation has flushed, of which the image gave no answer.
	Flushed(evaluation int64) (out, err string)

	// Kill ends the image, or our connection to it if it is not ours to end;
	// Killed is the word for that.
	Kill()
	Killed() string
	Close(ctx context.Context) // kill, gently, and release everything
}

// Text is a piece of text from the image whose middle may have been left out
// where it was produced, so that no amount of printing fills a memory.
type Text struct {
	_       struct{} `sexp:",list"`
	Head    string   // the beginning, or all of it
	Tail    string   // the end, when Omitted > 0
	Omitted int64    // characters left out between Head and Tail
}

// Empty reports whether nothing was produced.
func (t Text) Empty() bool { return t.Head == "" && t.Tail == "" && t.Omitted == 0 }
