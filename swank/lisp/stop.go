package lisp

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"swank-mcp/swank"
	"swank-mcp/swank/lisp/helper"
)

// Grace is given in time that the image could have used, see [patience]: who has no
// processor is not late.
const (
	// stopGrace is how long the cleanup forms of an evaluation may take that is stopped. Then
	// it is stopped once more, which also breaks these off.
	stopGrace = 1200 * time.Millisecond
	// againGrace is how long each further request to stop has. After the last one the
	// evaluation cannot be stopped from outside.
	againGrace = 600 * time.Millisecond
	// silentGrace is after what time an image is given up that answers no request.
	silentGrace = 24 * time.Second
)

// lastRequest is how many requests to stop an evaluation has to have survived. The image has
// to have answered each of them: so it ran then, and did not collect garbage.
const lastRequest = 3

// stopper ends an evaluation: it asks the image to, again and again, and gives up when the
// evaluation could have ended and has not.
type stopper struct {
	e     *evaluation
	timer *time.Timer // to the time limit, then to the next look
	kind  FailureKind // why it is stopped

	over   <-chan struct{}    // closed at a time limit that timer does not count
	cancel context.CancelFunc // of that

	requests int
	asked    *swank.Call // the last request; nil if none was sent
	heard    bool        // it has been answered
	first    *swank.Call // the request before it, if it went to a new worker, and else nil

	image  *patience     // with the image, since the first request
	thread *patience     // with the evaluation's thread, once it is known
	since  time.Duration // that it could have used since the last request
	silent time.Duration // that the image could have used since it answered last

	looked time.Time // at a person's image that does not answer
}

// newStopper returns one that begins after limit, or with 0 when its caller says so. The limit
// of what brings a session back is none of a client's: it counts the time in which the image
// could act, so that a slow machine takes nothing from the session. The caller calls release.
func newStopper(e *evaluation, limit time.Duration) stopper {
	s := stopper{e: e, timer: time.NewTimer(limit), cancel: func() {}}
	if limit == 0 || e.job.back {
		s.timer.Stop()
	}
	if limit != 0 && e.job.back {
		limited, cancel := e.inst.within(context.Background(), limit)
		s.over, s.cancel = limited.Done(), cancel
	}
	return s
}

func (s *stopper) release() {
	s.timer.Stop()
	s.cancel()
}

// late is called when over is closed.
func (s *stopper) late() {
	s.over = nil
	if s.requests == 0 {
		s.stop(KindTimeout)
	}
}

// begin has s count from now on.
func (s *stopper) begin(kind FailureKind) {
	if s.requests == 0 {
		s.kind, s.image, s.looked = kind, s.e.inst.patience(), time.Now()
	}
	s.requests++
	s.since = 0
	s.timer.Reset(lookEvery)
}

// stop asks the image to end the evaluation, on the control thread.
func (s *stopper) stop(kind FailureKind) {
	s.begin(kind)
	if s.e.inst.single { // it would not be read before the evaluation has ended
		return
	}
	reason := s.kind.String() // the helper's names are the same
	// A control thread that has not answered the first request may be gone; a
	// new worker answers in any case, if the image is alive.
	thread := s.e.inst.controlThread()
	if s.asked != nil && !answered(s.asked) {
		thread, s.first = swank.NewWorker, s.asked
	}
	c := helper.NewCall("STOP-EVALUATION").Num(s.e.token).Key(reason)
	if s.e.s.name != defaultSession {
		c.Str(s.e.s.name)
	}
	// A connection that refuses this has failed, and then the call ends too.
	s.asked, _ = c.Send(s.e.inst.conn, thread)
	s.heard = false
}

// stopped has the evaluation end because a person wants that.
func (s *stopper) stopped(how personStop) {
	switch {
	case s.requests > 0: // it is being stopped already
	case how.asked:
		s.begin(KindStopped)
	default:
		s.stop(KindStopped)
	}
}

// next is called when the timer fires. It returns nil while there is hope.
func (s *stopper) next() *Result {
	if s.requests == 0 {
		s.stop(KindTimeout)
		return nil
	}
	s.look()
	s.timer.Reset(lookEvery)
	grace := stopGrace
	if s.requests > 1 {
		grace = againGrace
	}
	switch {
	case s.asked != nil && !s.heard:
		return s.unanswered()
	case s.patience().stalled():
		return s.e.stalled(s.kind, s.patience())
	case s.since < grace:
		return nil
	case s.first != nil:
		if !answered(s.first) {
			s.e.replaceControl()
		}
		s.first, s.requests = nil, 0
		s.stop(s.kind)
		return nil
	case s.asked != nil && s.unknown():
		if s.requests++; s.requests < 5 {
			s.since = 0 // its answer may be on the way
			return nil
		}
		return s.e.abandoned("The Lisp thread of this session has ended, and with it the evaluation, if that had begun. Send the code again, unless it has done a part of its work already.")
	case s.requests < lastRequest:
		s.stop(s.kind)
		return nil
	default:
		return s.e.stuck(s.kind, "The evaluation could not be stopped: it runs with interrupts off "+
			"(sb-sys:without-interrupts) or in foreign code.")
	}
}

// patience returns the one with the evaluation's thread, or else with the image.
func (s *stopper) patience() *patience {
	if s.thread != nil {
		return s.thread
	}
	return s.image
}

// look counts what the image could have used since the last look, and whether it has answered.
func (s *stopper) look() {
	could := s.image.look()
	s.silent += could
	if s.thread != nil {
		could = s.thread.look()
	}
	s.since += could
	if s.asked == nil || s.heard || !answered(s.asked) {
		return
	}
	s.heard, s.silent = true, 0
	s.since = min(s.since, againGrace/2) // it has had the request since a moment only
	if number := s.number(); number != 0 && s.thread == nil {
		s.thread = s.e.inst.patience()
		s.thread.gauge.Follow(number)
	}
}

// unanswered goes on where the image has not answered the last request.
func (s *stopper) unanswered() *Result {
	switch {
	case s.requests == 1 && s.since >= stopGrace:
		s.stop(s.kind) // a new worker
	case s.silent >= silentGrace || s.hopeless():
		return s.e.stuck(s.kind, wholeImageSilent)
	case s.image.stalled():
		return s.e.stalled(s.kind, s.image)
	}
	return nil
}

const wholeImageSilent = "The whole image has stopped answering: it may be swapping, suspended, or collecting garbage without end."

// hopeless reports whether nothing will come of waiting for a person's image, which has
// answered nothing since the time was up. It looks now and then.
func (s *stopper) hopeless() bool {
	silent := time.Since(s.image.began)
	if !s.e.inst.attached() || silent < 4*stopGrace || time.Since(s.looked) < stopGrace {
		return false
	}
	s.looked = time.Now()
	return !s.e.im.lastGuest().Worthwhile(silent)
}

// replaceControl gives the image a new control thread.
func (e *evaluation) replaceControl() {
	ctx, cancel := e.inst.withinReach(context.Background(), connectTimeout)
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

// answer is what the last request was answered with: the system's number of the thread that
// is to stop, T if that is not known, NIL if nothing is in progress.
func (s *stopper) answer() string {
	var g swank.Grabbed
	if !answered(s.asked) || s.asked.Wait(context.Background(), &g) != nil {
		return ""
	}
	return g.Output
}

// unknown reports whether the image said that the evaluation is not in
// progress: its thread died before it got to it.
func (s *stopper) unknown() bool { return s.answer() == "nil" }

// number returns the system's number of the thread that is to stop, 0 if it is not known.
func (s *stopper) number() int {
	number, _ := strconv.Atoi(s.answer())
	return number
}

// stalled is the result of an evaluation that is not stopped yet, because its image hardly
// runs. The image is not to blame: it goes on when it can.
func (e *evaluation) stalled(kind FailureKind, p *patience) *Result {
	text := "The evaluation has not ended yet, because the Lisp image hardly runs: " + p.inWords(e.inst) + ". It was asked to stop, and stops when the image runs again."
	if !e.left {
		e.s.givenUp = append(e.s.givenUp, e)
		text += " The next reply tells what became of it."
	}
	return &Result{Failure: &Failure{Kind: kind, Type: typeNotStopped, Message: text}, Background: e.inst.proc.Background()}
}

// typeNotStopped is the Failure.Type of an evaluation that goes on, because it could not be stopped.
const typeNotStopped = "NOT-STOPPED"

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
