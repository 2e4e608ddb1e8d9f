package attach

import (
	"fmt"
	"sync/atomic"

	"swank-mcp/swank"
	"swank-mcp/swank/lisp/host"
)

// Progress tells how far an attempt to attach has come. It may be used from any goroutine.
// The zero value is that of an attempt that has not begun.
type Progress struct {
	stage  atomic.Int32
	secret atomic.Bool // one was sent
	pipe   atomic.Pointer[commandPipe]
	info   atomic.Pointer[swank.ConnectionInfo]
	heard  atomic.Int64
}

// Stages of an attempt.
const (
	stageConnecting int32 = iota
	stageAccepted         // nothing was answered
	stageAnswered         // by Swank; the helper is not ready
)

// begin takes p back to the beginning of an attempt.
func (p *Progress) begin(secret bool) {
	p.stage.Store(stageConnecting)
	p.secret.Store(secret)
	p.pipe.Store(nil)
}

// Heard returns how often the image has told of itself, as it does after each part of the helper
// that it has loaded. The number only grows.
func (p *Progress) Heard() int64 { return p.heard.Load() }

// Hear notes that the image has told of itself.
func (p *Progress) Hear() { p.heard.Add(1) }

// Unfinished returns the error of a caller that can wait no longer for the attempt to attach
// to t: what is known so far, and what may be the matter.
func (p *Progress) Unfinished(t Target) *Error {
	stage := p.stage.Load()
	e := &Error{Silent: stage == stageAccepted}
	switch {
	case stage == stageConnecting:
		e.Problem = fmt.Sprintf("no connection to %s has come about yet.", t)
		e.Advice = "Its machine may be down, a firewall may drop the packets, or it is stopped while others wait there. " + t.invitation(true)
	case stage == stageAnswered:
		info := p.info.Load()
		e.StartError = host.StartError{
			Problem: fmt.Sprintf("Swank of %s %s at %s has answered, and swank-mcp's helper is not ready in it yet.",
				info.Implementation.Type, info.Implementation.Version, t),
			Advice: "The first time the helper is compiled in it, and a Lisp that is busy, or waits in a debugger, takes its time.",
		}
	case p.secret.Load():
		e.Problem = fmt.Sprintf("%s has accepted the connection, and has not answered to the secret of ~/.slime-secret yet. "+
			"A Swank that is sent another secret than its own does not answer at all.", t)
		e.Advice = "Compare the first line of ~/.slime-secret here and in the home directory of the Lisp's user. " +
			"If they are equal, the Lisp is stopped or busy, or no Swank is behind that port. " +
			"A Swank that has refused a secret waits in a debugger: leave that (q in its SLDB buffer), or start another server. " + t.invitation(false)
	default:
		e.Problem = fmt.Sprintf("%s has accepted the connection, and has not answered yet.", t)
		if said := p.pipe.Load().complaint(); said != "" {
			e.Problem += " The command says: " + said
		}
		e.Advice = "The Lisp may be busy, stopped, or serve another client (a Swank without threads serves one at a time). " +
			"Or it asks for a secret (a file .slime-secret in its user's home directory) and there is none in yours: copy it. " +
			"Or what listens is no Swank, or a tunnel (ssh -L, socat, a container's port) that is stopped. " + t.invitation(false)
	}
	return e
}
