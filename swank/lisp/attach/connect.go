package attach

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"swank-mcp/sexp"
	"swank-mcp/swank"
	"swank-mcp/swank/lisp/helper"
	"swank-mcp/swank/lisp/host"
)

const (
	// firstID keeps our requests from being taken for a person's: while they have
	// one of our threads in SLDB, their client gets our answers, too.
	firstID = 1_000_000_000

	// writeLimit bounds the processor time that the other side may use without taking a byte of a
	// request, whose caller cannot leave meanwhile. The other side is looked at every writePause.
	writeLimit = 30 * time.Second
	writePause = 3 * time.Second
)

// Config says to which image to attach, and what to bring there.
type Config struct {
	Target  Target
	Code    Code
	Handler func(*swank.Debug) // of the connection; see [swank.Options]
	Message func(text string)  // of the connection, too; may be nil
	Trace   io.Writer          // readable trace of every Swank message; nil is off

	Progress *Progress // is told how far it has come; may be nil
}

// Code is the Lisp that a person's image gets, as source text.
type Code struct {
	SafeClose string   // a function that lets a connection's socket be closed at any time
	Inject    string   // a function that loads the helper unless it is there, and tells after each part
	Helper    [][]byte // parts of package SWANK-MCP, in the order in which they are loaded

	// Share puts Helper where an image on this machine, run by the same user,
	// finds it and keeps its fasl; hash is to be in the names of the files. With
	// no files, the source goes over the connection.
	Share func(hash string) (files []string)
}

// bridgeID distinguishes this process from other bridges in the same image, so that
// the helper ends the old connection of a bridge that connects anew.
var bridgeID = rand.Text()

// Connect connects to the image that c names and makes it ready for evaluations. It waits
// until ctx ends: a Lisp that is busy answers late, and so does one that lacks the processor.
// The error is a [*host.StartError], within an [*Error] if to try again may be of
// use; nothing is left in the image then but the helper. The caller closes the
// guest.
func Connect(ctx context.Context, c Config) (*Guest, error) {
	secret, err := swank.ReadSecret()
	if err != nil {
		return nil, &host.StartError{Problem: "nothing was sent to " + c.Target.String(), Err: err}
	}
	if c.Progress == nil {
		c.Progress = new(Progress)
	}
	c.Progress.begin(secret != "")
	var known atomic.Pointer[witness] // once we are in
	conn, pipe, err := c.Target.dial(ctx, &swank.Options{
		Handler: c.Handler, Trace: c.Trace,
		Message: func(text string) {
			c.Progress.Hear()
			if c.Message != nil {
				c.Message(text)
			}
		},
		Secret: secret, Newline: true, FirstID: firstID,
		WriteTimeout: writePause, Patient: func(waited time.Duration) bool {
			w := known.Load()
			if w == nil {
				w = &witness{} // of one of which nothing is known
			}
			return !w.stands(waited)
		},
	})
	switch {
	case err != nil && late(ctx):
		return nil, c.Progress.Unfinished(c.Target)
	case err != nil:
		return nil, c.Target.unreachable(err)
	}
	c.Progress.pipe.Store(pipe)
	c.Progress.stage.Store(stageAccepted)
	g, err := enter(ctx, c, conn, pipe)
	if err != nil {
		unfinished := c.Progress.Unfinished(c.Target) // the command says more once it is ended
		conn.Close()
		var start *host.StartError
		switch {
		case late(ctx):
			return nil, unfinished
		case errors.As(err, &start):
			return nil, err
		}
		return nil, c.Target.noSwank(err, pipe.complaint())
	}
	known.Store(&witness{lisp: g.Lisp})
	return g, nil
}

// late reports whether ctx has ended because its time is up.
func late(ctx context.Context) bool { return errors.Is(ctx.Err(), context.DeadlineExceeded) }

// enter makes the image at the other end of conn ready for evaluations.
func enter(ctx context.Context, c Config, conn *swank.Conn, pipe *commandPipe) (*Guest, error) {
	// Nothing else is asked before: the image may be about to answer a connection that
	// has gone, if it was stopped meanwhile.
	var others bool
	if err := conn.Call(ctx, swank.Request{Form: enterForm(c.Code.SafeClose)}, &others); err != nil {
		return nil, err
	}
	info, err := conn.ConnectionInfo(ctx)
	if err != nil {
		return nil, err
	}
	g := &Guest{target: c.Target, Conn: conn, Info: info}
	c.Progress.info.Store(info)
	c.Progress.stage.Store(stageAnswered)
	if err := g.loadHelper(ctx, c.Code); err != nil {
		return nil, err
	}
	if err := g.join(ctx, others); err != nil {
		return nil, g.notReady(err)
	}
	g.Lisp = g.look(pipe)
	if g.Single() {
		g.notes = append(g.notes, singleNote(info))
	}
	return g, nil
}

// join tells the helper that this bridge is there. others is the value of [enterForm].
func (g *Guest) join(ctx context.Context, others bool) error {
	attach := helper.NewCall("ATTACH").Str(bridgeID)
	if others {
		attach.Key("SERVED-OTHERS").Yes()
	}
	call, err := attach.Send(g.Conn, swank.NewWorker)
	if err != nil {
		return err
	}
	var answer swank.Grabbed
	if err := call.Wait(ctx, &answer); err != nil {
		return err
	}
	var w wireAttached
	if err := helper.Decode(answer.Output, &w); err != nil {
		return err
	}
	g.Image, g.Control, g.Paused, g.Policy = w.Image, w.Control, w.Paused, w.Policy
	if w.Note != "" {
		g.notes = append(g.notes, w.Note)
	}
	return nil
}

// enterForm sees to it that our connection can be closed at any time, by safeClose.
// Then it takes the connection out of the list by which Swank decides who is shown
// errors of background threads, and where output goes when Emacs has gone: the
// person's are not for us. Swank may put it there a moment
// after it has begun to answer. Its value says whether Swank's log, which holds some requests,
// has one that no bridge sends.
func enterForm(safeClose string) sexp.List {
	return sexp.List{
		sexp.Symbol("cl:progn"),
		sexp.List{sexp.Symbol("cl:ignore-errors"), sexp.List{
			sexp.Symbol("cl:funcall"), sexp.List{sexp.Symbol("cl:eval"), readForm(safeClose)},
			sexp.Raw(`(swank::connection.socket-io swank::*emacs-connection*)`),
		}},
		sexp.Raw(`(cl:loop :repeat 1000 :until (cl:member swank::*emacs-connection* swank::*connections*) :do (cl:sleep 1/1000))`),
		sexp.Raw(`(cl:setf swank::*connections* (cl:remove swank::*emacs-connection* swank::*connections*))`),
		sexp.List{sexp.Symbol("cl:funcall"), sexp.List{sexp.Symbol("cl:eval"), readForm(servedOthers)}},
	}
}

// servedOthers looks in Swank's log for a request of somebody else's.
const servedOthers = `(cl:lambda ()
  (cl:and (cl:find-if (cl:lambda (event)
            (cl:and (cl:stringp event) (cl:search "dispatch-event: (:EMACS-REX" event)
                    (cl:notany (cl:lambda (ours) (cl:search ours event :test (cl:function cl:char-equal)))
                               (quote ("swank-mcp" "(swank:connection-info" "(swank:ping" "(swank:throw-to-toplevel")))))
          (cl:ignore-errors (swank::event-history-to-list)))
       t))`

// wireAttached is the answer of the helper's ATTACH.
type wireAttached struct {
	Image   string         `sexp:"image"`
	Control swank.ThreadID `sexp:"control"`
	Paused  bool           `sexp:"paused"`
	Policy  string         `sexp:"policy"`
	Note    string         `sexp:"note"` // what there is to say about the Lisp, or ""
}
