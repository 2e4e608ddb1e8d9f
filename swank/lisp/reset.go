package lisp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"swank-mcp/swank"
	"swank-mcp/swank/lisp/helper"
	"swank-mcp/swank/lisp/journal"
)

// Reset tells what [Session.ResetSession] did.
type Reset struct {
	Problems []string `sexp:"problems"` // what could not be undone, and why
	Left     []string `sexp:"left"`     // what is not undone in an image that is not ours
}

// reset is one that was sent and not answered in time. The image may do it yet.
type reset struct {
	call *swank.Call

	mark journal.Mark // of the journal then
}

// ResetSession undoes what the session has made, in turn with its evaluations:
// it waits for those that came before at most as long as timeout says. The
// journal goes when the image has answered that it is done, even if that is late:
// until then the image may end without having done it.
func (s *Session) ResetSession(ctx context.Context, timeout time.Duration) (r *Reset, err error) {
	err = s.alone(ctx, "reset-session", timeout, func() error {
		r, err = s.reset(ctx)
		s.im.timeline.step(s.name, "reset-session")
		return err
	})
	return r, err
}

func (s *Session) reset(ctx context.Context) (*Reset, error) {
	inst, err := s.im.running(ctx)
	if err != nil {
		return nil, err
	}
	bounded, cancel := inst.forAnswer(ctx)
	defer cancel()
	done := new(Reset)
	left := s.endJobs(bounded, errJobReset)
	if inst != nil {
		call, answer, err := inst.callQuery(bounded, helper.NewCall("RESET-SESSION").Str(s.name))
		if err != nil {
			return nil, s.notReset(call, inst.unanswered(ctx, inst.queryError(ctx, err)))
		}
		if err := inst.queryError(ctx, helper.Decode(answer, done)); err != nil {
			return nil, err
		}
	}
	for _, b := range left {
		done.Problems = append(done.Problems, fmt.Sprintf("job-%d has not ended yet: %s", b.number, b.code))
	}
	s.hear()
	s.journal.Reset()
	s.kept.Load().Keep(&s.journal, true, true)
	for _, target := range s.suspended.clear("reset-session ended it") {
		s.endedAlone(target, &Result{Failure: &Failure{Type: "ABORTED", Message: "reset-session ended it."}})
	}
	return done, nil
}

// notReset keeps a reset that may be done yet, and tells so.
func (s *Session) notReset(call *swank.Call, err error) error {
	if call == nil {
		return err
	}
	s.resets = append(s.resets, &reset{call, s.journal.Mark()})
	var u *UnansweredError
	if errors.As(err, &u) {
		return &UnansweredError{u.Kind, u.Why + " Whether the session was reset is not known; the next evaluation tells."}
	}
	return err
}

// catchUp learns what has become of resets that were not answered in time, and of jobs. The
// holder of the turn calls it; the next result tells.
func (s *Session) catchUp() {
	s.hear()
	s.resets = slices.DeleteFunc(s.resets, func(r *reset) bool {
		select {
		case <-r.call.Done():
		default:
			return false
		}
		if r.call.Wait(context.Background(), nil) != nil {
			s.notes = append(s.notes, "The image, or the connection to it, was gone before it said that the reset-session was done: if definitions from before it are still there, call it again.")
			return true
		}
		s.journal.Drop(r.mark)
		s.notes = append(s.notes, "The reset-session that was not answered in time has been done since: what was defined before it is gone.")
		return true
	})
}
