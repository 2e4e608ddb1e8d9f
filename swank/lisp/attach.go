package lisp

import (
	"context"
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"swank-mcp/sexp"
	"swank-mcp/swank"
)

const (
	// helloTimeout is what a port gets to prove that Swank is behind it. With
	// dialTimeout it stays below the five seconds after which a person wonders.
	helloTimeout = 3 * time.Second
	dialTimeout  = 1500 * time.Millisecond

	// helperTimeout bounds the compilation of the helper in an image that may
	// be busy with something else.
	helperTimeout = 60 * time.Second

	// firstID keeps our requests from being taken for a person's: while they have
	// one of our threads in SLDB, their client is told of an answer to us, too.
	firstID = 1_000_000_000

	// writeLimit is how long the other side may take no bytes of a request, if
	// nothing is known to be the matter with it; every writePause it is looked.
	writeLimit = 30 * time.Second
	writePause = 3 * time.Second
)

// attachment is a person's image as far as it is ours: a connection. The rest,
// its process, its output, its end, is the person's. It implements [host.Host].
type attachment struct {
	target Target
	conn   *swank.Conn
	info   *swank.ConnectionInfo
	image  string // identity of the image, which a new one has not
	known  guestOf
	notes  []string
}

// bridgeID tells this process from other bridges in the same image, so that a
// connection of its own that it has lost can be told from a living one's.
var bridgeID = rand.Text()

// attach connects to the image that c names and makes it ready. The error is a
// *StartError; nothing is left in the image then but the helper.
func attach(ctx context.Context, c Config, handler func(*swank.Debug)) (*live, error) {
	secret, err := swank.ReadSecret()
	if err != nil {
		return nil, &StartError{Problem: "nothing was sent to " + c.Attach.String(), Err: err}
	}
	var known atomic.Pointer[guestOf] // once we are in
	conn, pipe, err := c.Attach.dial(ctx, &swank.Options{
		Handler: handler, Trace: c.Trace, Secret: secret, Newline: true, FirstID: firstID,
		WriteTimeout: writePause, Patient: func(waited time.Duration) bool {
			g := known.Load()
			return waited < writeLimit && (g == nil || g.worthwhile(waited))
		},
	})
	if err != nil {
		return nil, c.Attach.unreachable(err)
	}
	lv, err := enterAttached(ctx, c, conn, pipe)
	if err != nil {
		conn.Close()
		var start *StartError
		if errors.As(err, &start) {
			return nil, err
		}
		return nil, c.Attach.noSwank(err, secret != "", pipe.complaint())
	}
	known.Store(&lv.proc.(*attachment).known)
	return lv, nil
}

// enterAttached makes the image at the other end of conn ready for evaluations.
func enterAttached(ctx context.Context, c Config, conn *swank.Conn, pipe *commandPipe) (*live, error) {
	hello, cancel := context.WithTimeout(ctx, helloTimeout)
	defer cancel()
	// Nothing else is asked before: the image may be about to answer a connection that
	// has gone, if it was stopped meanwhile.
	if err := conn.Call(hello, swank.Request{Form: enterForm}, nil); err != nil {
		return nil, err
	}
	info, err := conn.ConnectionInfo(hello)
	if err != nil {
		return nil, err
	}
	a := &attachment{target: c.Attach, conn: conn, info: info}
	lv := &live{
		proc: a, conn: conn, info: info, born: time.Now(), lanes: map[string]*lane{}, looks: looks{starting: make(chan struct{}, 1)},
		single: info.Style != ":spawn",
	}
	ctx, cancelLoad := context.WithTimeoutCause(ctx, helperTimeout,
		fmt.Errorf("the image was not ready after %v", helperTimeout))
	defer cancelLoad()
	if err := a.loadHelper(ctx, c); err != nil {
		return nil, err
	}
	var w wireAttached
	call := newHelperCall("ATTACH").str(bridgeID)
	if c.Echo {
		call.key("ECHO").yes()
	}
	answer, err := lv.askOn(ctx, swank.NewWorker, call)
	if err == nil {
		err = decodeAnswer(answer, &w)
	}
	if err != nil {
		return nil, a.notReady(err)
	}
	a.image, lv.lookups = w.Image, w.Lookups
	a.known = a.look(pipe)
	if lv.single {
		a.notes = append(a.notes, singleNote(info))
	}
	return lv, nil
}

//go:embed helper/forgive.lisp
var forgive string

// enterForm sees to it that our connection can be closed at any time (forgive.lisp).
// Then it takes the connection out of the list in which Swank looks for somebody
// to show an error of a thread that is nobody's, and to whom to redirect output when
// that of Emacs ends: the person's are not for us. Swank may put it there a moment
// after it has begun to answer.
var enterForm = sexp.List{
	sexp.Symbol("cl:progn"),
	sexp.List{sexp.Symbol("cl:ignore-errors"), sexp.List{
		sexp.Symbol("cl:funcall"), sexp.List{sexp.Symbol("cl:eval"), readForm(forgive)},
		sexp.Raw(`(swank::connection.socket-io swank::*emacs-connection*)`),
	}},
	sexp.Raw(`(cl:loop :repeat 1000 :until (cl:member swank::*emacs-connection* swank::*connections*) :do (cl:sleep 1/1000))`),
	sexp.Raw(`(cl:setf swank::*connections* (cl:remove swank::*emacs-connection* swank::*connections*))`),
	sexp.Raw(`t`),
}

// wireAttached is the answer of the helper's ATTACH.
type wireAttached struct {
	Image   string         `sexp:"image"`
	Lookups swank.ThreadID `sexp:"lookups"`
}

// notReady is the error of an image in which Swank answers and the helper does not.
func (a *attachment) notReady(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		err = errors.New("it did not come to that in time: the Lisp may be busy, or wait in a debugger")
	}
	return &StartError{
		Problem: fmt.Sprintf("Swank %s of %s %s at %s answers, but the helper of swank-mcp does not work in it",
			a.info.Version, a.info.Implementation.Type, a.info.Implementation.Version, a.target),
		Advice: "Nothing was evaluated. Send the call again; if this comes again, evaluate (delete-package :swank-mcp) in that Lisp, or restart it.",
		Err:    err,
	}
}

// attached reports whether the image is somebody else's.
func (lv *live) attached() bool {
	_, ok := lv.proc.(*attachment)
	return ok
}

// imageID returns the identity of an attached image, "" of a launched one,
// which has none but its process.
func (lv *live) imageID() string {
	if a, ok := lv.proc.(*attachment); ok {
		return a.image
	}
	return ""
}

// lostText says how the connection to an attached image ended.
func lostText(err error) string {
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the Lisp closed the connection, or ended"
	case err == nil:
		return "the connection ended"
	case errors.Is(err, swank.ErrWriteTimeout):
		return "the other side took no more bytes: the Lisp, or a tunnel on the way to it, may be stopped"
	}
	return "the connection ended: " + err.Error()
}

func (a *attachment) Address() (network, address string) { return a.target.Network, a.target.Address }

func (a *attachment) PID() int                { return a.info.PID }
func (a *attachment) Remarks() []string       { return a.notes }
func (a *attachment) FromCore() bool          { return false }
func (a *attachment) Exited() <-chan struct{} { return nil }
func (a *attachment) HasExited() bool         { return false }
func (a *attachment) ExitText() string        { return "" }
func (a *attachment) LastErrors() string      { return "" }
func (a *attachment) Settle()                 {}
func (a *attachment) Background() Text        { return Text{} }
func (a *attachment) Kill()                   { a.conn.Close() }
func (a *attachment) Killed() string          { return "left" }
func (a *attachment) Close(context.Context)   { a.conn.Close() }
