package lisp

import (
	"errors"
	"fmt"
	"time"

	"swank-mcp/sexp"
	"swank-mcp/swank"
	"swank-mcp/swank/lisp/host"
)

// ErrTooLarge is wrapped by the error of a call whose code does not fit into one
// message to the image. Nothing of it was evaluated.
var ErrTooLarge = errors.New("lisp: the code is too large for one message to the image")

// sendError is err, met while a call was made and sent, for its caller.
func sendError(err error) error {
	var size *swank.FrameSizeError
	if errors.Is(err, sexp.ErrTooLarge) || errors.As(err, &size) {
		return fmt.Errorf("%w: %w", ErrTooLarge, err)
	}
	return err
}

// StartError says why there is no image to work in, and what to do about it.
type StartError = host.StartError

// BusyError is the end of a call that waited for its turn longer than its own
// time limit. Nothing of it was evaluated.
type BusyError struct {
	Waited time.Duration
	Code   string        // beginning of the evaluation that is running
	Age    time.Duration // how long that one has been running
	Limit  time.Duration // when it will be stopped, counted from its start
	Ahead  int           // calls that wait before this one
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("lisp: session busy: %q has been running for %v", e.Code, e.Age.Round(time.Millisecond))
}

// UnansweredError is a call beside evaluations that the image did not answer.
type UnansweredError struct {
	Kind FailureKind // KindImageDied or KindTimeout
	Why  string      // one sentence
}

func (e *UnansweredError) Error() string { return "lisp: " + e.Why }
