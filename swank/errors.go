package swank

import (
	"errors"
	"fmt"
	"unicode/utf8"
)

// ErrClosed is the cause of failure of a connection that ended because
// [Conn.Close] was called. Every other cause is a [ConnError].
var ErrClosed = errors.New("swank: connection closed")

// ConnError is the cause of failure of a connection that did not end by
// [Conn.Close]: it ends the connection, and every call still pending on it
// returns it. It wraps [io.EOF] where the Lisp side closed the connection
// between two frames, and [io.ErrUnexpectedEOF] where it did so within one.
type ConnError struct {
	Op  string // "read", "write" or "authenticate"
	Err error
}

func (e *ConnError) Error() string { return "swank: " + e.Op + ": " + e.Err.Error() }

// Unwrap returns the underlying error.
func (e *ConnError) Unwrap() error { return e.Err }

// ErrWriteTimeout is wrapped by the [ConnError] of a connection whose peer took
// nothing of a frame for [Options.WriteTimeout].
var ErrWriteTimeout = errors.New("the peer does not read: write timed out")

// HeaderError reports a frame header that is not six hexadecimal digits. What
// follows cannot be told apart any more, so it ends the connection.
type HeaderError struct {
	Header string // the six bytes
}

func (e *HeaderError) Error() string { return fmt.Sprintf("bad frame header %q", e.Header) }

// FrameSizeError reports a frame that is too large to be sent; the connection is
// as good as before.
type FrameSizeError struct {
	Size, Max int // bytes of payload
}

func (e *FrameSizeError) Error() string {
	return fmt.Sprintf("frame of %d bytes exceeds the limit of %d", e.Size, e.Max)
}

// AbortError is the answer (:return (:abort REASON) ID): the evaluation was
// left by a non-local exit. Reason is the printed form of the last condition
// that reached Swank's outermost handler. It may be "NIL", a mere warning, or
// the error of something evaluated later in the debugger, and so must not be
// taken for the error of the evaluation; that is in [Debug].
type AbortError struct {
	ID     int64
	Reason string
}

func (e *AbortError) Error() string {
	return fmt.Sprintf("swank: call %d aborted: %s", e.ID, clip(e.Reason, 200))
}

// InvalidRPCError is the answer (:invalid-rpc ID MESSAGE): the thread that the
// request names does not exist.
type InvalidRPCError struct {
	ID      int64
	Message string
}

func (e *InvalidRPCError) Error() string {
	return fmt.Sprintf("swank: call %d refused: %s", e.ID, clip(e.Message, 200))
}

// ReaderError is the answer (:reader-error PACKET MESSAGE): the Lisp reader
// could not read a message of ours, typically because it names a package or an
// external symbol that the image does not have; or Swank could not encode the
// reply as UTF-8. Swank gives no id; it is taken from the end of the echoed packet.
type ReaderError struct {
	ID      int64
	Packet  string
	Message string
}

func (e *ReaderError) Error() string {
	return fmt.Sprintf("swank: call %d: lisp reader: %s", e.ID, clip(e.Message, 400))
}

// MessageError ends a call whose answer cannot be read: it is not an
// s-expression (a user's print-object method can print anything). The connection
// lives on.
type MessageError struct {
	ID    int64
	Frame string // the beginning of the frame, at most 200 bytes
	Err   error
}

func (e *MessageError) Error() string {
	return fmt.Sprintf("swank: unreadable answer to call %d: %v (%q)", e.ID, e.Err, e.Frame)
}

// Unwrap returns the reason.
func (e *MessageError) Unwrap() error { return e.Err }

// clip cuts s to at most n bytes at a character boundary and says so.
func clip[T ~string | ~[]byte](s T, n int) string {
	if len(s) <= n {
		return string(s)
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return string(s[:n]) + "…"
}
