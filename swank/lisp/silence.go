package lisp

import (
	"context"
	"errors"
	"fmt"

	"swank-mcp/swank"
	"swank-mcp/swank/lisp/attach"
	"swank-mcp/swank/lisp/helper"
)

// What is said when an image does not answer.

// silence is why inst may not answer, as part of a sentence.
func (inst *instance) silence() string {
	const own = "it is collecting garbage, out of processor time, or one of its threads holds a lock that the answer needs"
	g, ok := inst.proc.(*attach.Guest)
	if !ok {
		return own
	}
	why, certain := g.Lisp.Silence()
	switch {
	case certain:
		return why
	case inst.single:
		return singleBusy
	case why == "":
		return own
	}
	return why
}

const singleBusy = "Swank in it uses no threads, and is busy: a person is in its debugger (SLDB), for one, or what was evaluated before still runs"

// checkListening asks an image whose Swank uses no threads whether it listens, and returns
// the end of an evaluation for which it does not. A request that is sent
// meanwhile would be evaluated at some later time, and could not be cancelled.
func (e *evaluation) checkListening(ctx context.Context) (*Result, error) {
	if !e.inst.single {
		return nil, nil
	}
	bounded, cancel := context.WithTimeout(ctx, e.r.Timeout)
	defer cancel()
	err := e.inst.conn.Ping(bounded, e.thread.id)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case !errors.Is(err, context.DeadlineExceeded):
		return nil, nil // what is wrong with it is seen when it is sent
	}
	res := &Result{Failure: &Failure{Kind: KindTimeout, Type: "NOT-BEGUN", Message: "Nothing was evaluated, and nothing of it will be. " +
		"The image does not answer: " + e.inst.silence() + ". Send it again when that has ended."}}
	e.addNotes(res)
	return res, nil
}

// noteGivenUp learns what has become of evaluations that were given up because the
// image was silent. The holder of the turn calls it.
func (s *Session) noteGivenUp() {
	left := s.givenUp
	s.givenUp = nil
	for _, e := range left {
		if !answered(e.call) {
			s.givenUp = append(s.givenUp, e)
			continue
		}
		s.notes = append(s.notes, fmt.Sprintf("The evaluation that was given up when the image did not answer (%s) %s", firstLine(e.job.title, 80), e.fate()))
	}
}

// fate says how an evaluation that was given up has ended, as the end of a sentence.
func (e *evaluation) fate() string {
	var g swank.Grabbed
	var a wireAnswer
	if err := e.call.Wait(context.Background(), &g); err != nil {
		return "was lost with " + e.inst.whatEnds() + ": whether it was evaluated is not known."
	}
	if err := helper.Decode(g.Output, &a); err != nil {
		return "has ended; what it answered is not understood."
	}
	if e.inst.undone() {
		return "was undone with its image."
	}
	e.remember(&a)
	res := a.result()
	e.suspension(&a, res)
	switch {
	case a.Absent != "":
		return "was not done."
	case res.Suspended != nil:
		return fmt.Sprintf("is suspended in the debugger, as evaluation %d.", res.Suspended.Number)
	case res.Failure == nil:
		return "has been evaluated since, to its end."
	case res.Failure.Kind == KindError:
		return "has been evaluated since, and ended with " + res.Failure.Type + "."
	}
	return "was stopped when it answered again; it may have begun."
}
