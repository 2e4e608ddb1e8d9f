package lisp

import (
	"context"
	"fmt"
	"time"

	"swank-mcp/swank"
	"swank-mcp/swank/lisp/helper"
	"swank-mcp/swank/lisp/launch"
)

// stopper ends an evaluation: it asks the image twice and then gives up.
type stopper struct {
	e     *evaluation
	timer *time.Timer // to the next step
	kind  FailureKind // why it is stopped
	tries int
	asked *swank.Call // the last request to stop

	cpu     time.Duration // of the image when it was asked
	starved int           // how many times stopGrace it lacked a processor

	worker bool // the last request went to a new worker
}

// stop asks the image to end the evaluation, on the control thread.
func (s *stopper) stop(kind FailureKind) {
	if s.tries == 0 {
		s.kind = kind
	}
	if s.e.inst.single { // it would not be read before the evaluation has ended
		s.tries++
		s.timer.Reset(stopGrace)
		return
	}
	reason := s.kind.String() // the helper's names are the same
	// A control thread that has not answered the first request may be gone; a
	// new worker answers in any case, if the image is alive.
	thread := s.e.inst.controlThread()
	if s.asked != nil && !answered(s.asked) {
		thread, s.worker = swank.NewWorker, true
	}
	s.tries++
	s.timer.Reset(stopGrace)
	if p, ours := s.e.inst.proc.(*launch.Process); ours {
		s.cpu = p.OwnCPU()
	}
	c := helper.NewCall("STOP-EVALUATION").Num(s.e.token).Key(reason)
	if s.e.s.name != defaultSession {
		c.Str(s.e.s.name)
	}
	// A connection that refuses this has failed, and then the call ends too.
	s.asked, _ = c.Send(s.e.inst.conn, thread)
}

// stopped has the evaluation end because a person wants that.
func (s *stopper) stopped(how personStop) {
	switch {
	case s.tries > 0: // it is being stopped already
	case how.asked:
		s.kind, s.tries = KindStopped, 1
		s.timer.Reset(stopGrace)
	default:
		s.stop(KindStopped)
	}
}

// next is called when the timer fires. It returns nil while there is hope.
func (s *stopper) next() *Result {
	switch {
	case s.tries == 0:
		s.stop(KindTimeout)
		return nil
	case s.starved < frozenTries && s.starves():
		s.starved++
		s.timer.Reset(stopGrace)
		return nil
	case s.tries == 1:
		s.stop(s.kind)
		return nil
	case s.asked != nil && !answered(s.asked) && s.tries < frozenTries && !(s.tries > 3 && s.hopeless()):
		// The whole image is busy, with collecting garbage for one, or suspended:
		// not the evaluation's fault, so it gets more time.
		s.tries++
		s.timer.Reset(stopGrace)
		return nil
	case s.asked != nil && !answered(s.asked):
		return s.e.stuck(s.kind, wholeImageSilent)
	case s.worker:
		s.e.replaceControl()
		s.worker, s.tries = false, 1
		s.stop(s.kind)
		return nil
	case s.asked != nil && s.unknown():
		if s.tries++; s.tries < 5 {
			s.timer.Reset(stopGrace) // its answer may be on the way
			return nil
		}
		return s.e.abandoned("The Lisp thread of this session has ended, and with it the evaluation, if that had begun. Send the code again, unless it has done a part of its work already.")
	default:
		return s.e.stuck(s.kind, "The evaluation could not be stopped: it runs with interrupts off "+
			"(sb-sys:without-interrupts) or in foreign code.")
	}
}

const wholeImageSilent = "The whole image has stopped answering: it may be swapping, suspended, or collecting garbage without end."

// frozenTries is after how many times stopGrace an image that answers nothing
// is given up.
const frozenTries = 20

// starves reports whether an image of ours wants a processor and has hardly had one since it
// was asked: other processes are to blame, not the evaluation.
func (s *stopper) starves() bool {
	p, ours := s.e.inst.proc.(*launch.Process)
	return ours && p.OwnCPU()-s.cpu < stopGrace/2 && p.Runs()
}

// hopeless reports whether nothing will come of waiting for the image, which has
// answered nothing since the time was up.
func (s *stopper) hopeless() bool {
	return s.e.inst.attached() && !s.e.im.lastGuest().Worthwhile(time.Duration(s.tries)*stopGrace)
}

// replaceControl gives the image a new control thread.
func (e *evaluation) replaceControl() {
	ctx, cancel := context.WithTimeout(context.Background(), connectTimeout)
	defer cancel()
	if err := e.inst.startControl(ctx); err == nil && !e.left {
		e.s.notes = append(e.s.notes, "The bridge's look-up thread had ended and was started again.")
	}
}

func answered(k *swank.Call) bool {
	select {
	case <-k.Done():
		return true
	default:
		return false
	}
}

// unknown reports whether the image said that the evaluation is not in
// progress: its thread died before it got to it.
func (s *stopper) unknown() bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	var g swank.Grabbed
	return s.asked.Wait(ctx, &g) == nil && g.Output == "nil"
}

// stuck replaces an image in which an evaluation cannot be stopped.
func (e *evaluation) stuck(kind FailureKind, why string) *Result {
	if e.inst.attached() {
		return e.leftRunning(kind, why)
	}
	e.inst.kill("an evaluation in it could not be stopped")
	return &Result{
		Failure: &Failure{
			Kind: kind,
			Type: typeReplaced,
			Message: fmt.Sprintf("%s The Lisp image was ended "+
				"(pid %d) and a new one takes its place; the next call works in it. %s", why, e.inst.proc.PID(), e.kept()),
		},
		Background: e.inst.proc.Background(),
	}
}
