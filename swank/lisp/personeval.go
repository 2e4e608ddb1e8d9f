package lisp

import (
	"context"
	"fmt"
	"strings"
)

// thePerson is on whose behalf it is done, as events and the history name it.
const thePerson = "the person"

// EvaluateForPerson is [Session.Evaluate] for a person, who works in the session of an
// agent. It does not wait while the calls of agents are paused. The next reply in the
// session says what was evaluated, and what came of it.
func (s *Session) EvaluateForPerson(ctx context.Context, r Request) (*Result, error) {
	r.person = true
	return s.Evaluate(ByClient(ctx, thePerson), r)
}

// DebugForPerson is [Session.Debug] in the same way.
func (s *Session) DebugForPerson(ctx context.Context, c DebuggerCall, r Request) (*Result, error) {
	r.person = true
	return s.Debug(ByClient(ctx, thePerson), c, r)
}

// notePerson notes for the next reply of an agent what the person has done. What there is to
// tell the agent else stays for that, too.
func (e *evaluation) notePerson(res *Result) {
	what := "evaluated"
	if e.job.about != nil {
		what = "was in the debugger with"
	}
	e.s.notes = append(e.s.notes, fmt.Sprintf("The person %s %s %s", what, strings.TrimSpace(firstLine(e.job.title, 300)), came(res)))
}

// came is what came of it, on one line.
func came(res *Result) string {
	switch {
	case res.Failure != nil:
		return fmt.Sprintf("[%s] %s", res.Failure.Kind, firstLine(strings.TrimSpace(res.Failure.Type+" "+res.Failure.Message), 200))
	case res.Suspended != nil:
		return "(it is suspended)"
	case len(res.Values) == 0:
		return "=> no values"
	}
	var values []string
	for _, v := range res.Values {
		values = append(values, firstLine(v.Head+v.Tail, 200))
	}
	return "=> " + strings.Join(values, ", ")
}
