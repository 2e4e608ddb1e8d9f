package lisp

import (
	"context"
	"io"
	"sync/atomic"

	"swank-mcp/swank"
	"swank-mcp/swank/lisp/launch"
)

// Ahead is a Lisp of ours that was started, and made ready, before there is an [Image] that
// wants one. No code but the user's init file has run in it. Whoever has it calls Close,
// unless it was handed over by Ahead in [Config].
type Ahead struct {
	inst  *instance
	image atomic.Pointer[Image] // to which it was handed over
}

// StartAhead starts one, as an [Image] would with the same Launch and Trace in its [Config].
// The error is a *StartError or the cause of ctx.
func StartAhead(ctx context.Context, c launch.Config, trace io.Writer) (*Ahead, error) {
	a := &Ahead{}
	own := Config{Launch: c, Trace: trace, told: func(inst *instance, text string) {
		if im := a.image.Load(); im != nil {
			im.told(inst, text)
		}
	}}
	var err error
	a.inst, err = begin(ctx, own, func(d *swank.Debug) {
		if im := a.image.Load(); im != nil {
			im.handle(d)
		}
	})
	if err != nil {
		return nil, err
	}
	return a, nil
}

// Alive reports whether it can be used.
func (a *Ahead) Alive() bool { return !a.inst.over() }

// PID is its process.
func (a *Ahead) PID() int { return a.inst.proc.PID() }

// Close ends it.
func (a *Ahead) Close() { a.inst.end() }

// takeAhead returns what was started ahead for the image, or nil if there is nothing.
func (im *Image) takeAhead() *instance {
	if im.cfg.Ahead == nil {
		return nil
	}
	a := im.cfg.Ahead()
	if a == nil {
		return nil
	}
	a.image.Store(im)
	if a.Alive() {
		return a.inst
	}
	a.Close()
	return nil
}
