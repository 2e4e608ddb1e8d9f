package attach

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"swank-mcp/swank"
	"swank-mcp/swank/lisp/host"
)

// Guest is our part in a person's image: a connection. The rest, its process, its
// output, its end, is the person's. It is a [host.Host].
type Guest struct {
	Conn    *swank.Conn
	Info    *swank.ConnectionInfo
	Image   string         // identity of the image, which a new one has not
	Control swank.ThreadID // thread that serves everything but evaluations
	Paused  bool           // by the person: calls that begin wait
	Policy  string         // of the person: "everything", "new" or "nothing" is allowed
	Lisp    Lisp           // as it is seen from outside

	target Target
	notes  []string
}

// singleNote says what an image cannot do whose Swank uses no threads.
func singleNote(info *swank.ConnectionInfo) string {
	style := strings.ToUpper(string(info.Style))
	if style == "" {
		style = "NIL"
	}
	note := fmt.Sprintf("Swank in this image uses no threads (communication style %s): while an evaluation runs, nothing else is answered, "+
		"cancelling does not reach it, and other clients of the image, Emacs among them, wait as well.", style)
	if info.Implementation.Type == "CLISP" {
		return note + " CLISP has none."
	}
	return note + " (setf swank:*communication-style* :spawn) before swank:create-server changes that."
}

// Single reports whether Swank in the image uses no threads: one request at a time.
func (g *Guest) Single() bool { return g.Info.Style != ":spawn" }

// PID returns the number of the process of l, 0 if that is not known to be on this machine.
func (l Lisp) PID() int { return l.pid }

// Is reports whether pid is that of g's process, as far as that is on this machine.
func (g *Guest) Is(pid int) bool { return g.Lisp.pid != 0 && g.Info.PID == pid }

// ExitText says how the connection ended.
func (g *Guest) ExitText() string {
	switch err := g.Conn.Err(); {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the Lisp closed the connection, or ended"
	case err == nil:
		return "the connection ended"
	case errors.Is(err, swank.ErrWriteTimeout):
		return "the other side took no more bytes: the Lisp, or a tunnel on the way to it, may be stopped"
	default:
		return "the connection ended: " + err.Error()
	}
}

// Address returns what net.Dial takes to reach Swank; "" with a command.
func (g *Guest) Address() (network, address string) { return g.target.Network, g.target.Address }

// PID is what the image says of itself; it may be on another machine.
func (g *Guest) PID() int { return g.Info.PID }

// Remarks returns what there is to say about the image, one line each.
func (g *Guest) Remarks() []string { return g.notes }

// What follows is not known of an attached image: what it was started from, how its
// process ends, what that prints.

// FromCore is false.
func (g *Guest) FromCore() bool { return false }

// Exited is nil.
func (g *Guest) Exited() <-chan struct{} { return nil }

// HasExited is false.
func (g *Guest) HasExited() bool { return false }

// LastErrors is "".
func (g *Guest) LastErrors() string { return "" }

// Settle does nothing.
func (g *Guest) Settle() {}

// Background is empty.
func (g *Guest) Background() host.Text { return host.Text{} }

// Flushed returns nothing: the descriptors are the person's.
func (g *Guest) Flushed(int64) (out, err string) { return "", "" }

// Kill closes the connection: the image is not ours to end.
func (g *Guest) Kill() { g.Conn.Close() }

// Killed is the word for that.
func (g *Guest) Killed() string { return "left" }

// Close closes the connection.
func (g *Guest) Close(context.Context) { g.Conn.Close() }
