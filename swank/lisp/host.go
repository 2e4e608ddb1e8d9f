package lisp

import "context"

// host is what an image runs in: a process that we have started and that ends
// with us, or one of somebody else's that we are a guest in. The image's own
// side of it, threads and definitions, is the same for both.
type host interface {
	// address returns what net.Dial takes to reach Swank.
	address() (network, address string)
	pid() int // 0 if unknown
	// remarks returns what there is to say about the start, one line each.
	remarks() []string
	cached() bool // started from the cached core

	// exited is closed when the process has ended; nil if we cannot know.
	exited() <-chan struct{}
	hasExited() bool
	exitText() string   // how it ended
	lastErrors() string // last lines of its standard error

	// settle returns when background would return all that was written before
	// to descriptors 1 and 2, if those are ours.
	settle()
	background() Text

	// kill ends the image, or our connection to it if it is not ours to end;
	// killed is the word for that.
	kill()
	killed() string
	close(ctx context.Context) // kill, gently, and release everything
}

var (
	_ host = (*process)(nil)
	_ host = (*attachment)(nil)
)
