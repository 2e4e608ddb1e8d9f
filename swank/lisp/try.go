package lisp

import (
	"context"
	"strings"
	"time"

	"swank-mcp/swank/lisp/journal"
)

// try does the job of the holder of the turn in a copy of the image that is thrown away.
func (s *Session) try(ctx context.Context, r Request, j *job) (*Result, error) {
	r.Suspend, r.Background, r.OnTimeout = false, false, false
	inst, err := s.trialImage(ctx, r.Timeout)
	if err != nil {
		return nil, err
	}
	defer inst.leave()
	s.im.resumed(ctx, inst)
	bounded, cancel := inst.within(ctx, connectTimeout)
	defer cancel()
	thread, err := inst.sessionThread(bounded, s.name)
	if err != nil {
		return nil, err
	}
	var defined journal.Journal
	more := ""
	trial := *j
	trial.learn = func(a *wireAnswer) {
		for _, d := range a.Journal {
			defined.Add(&journal.Entry{Keys: d.Keys, Text: d.Text})
		}
		if a.More {
			more = ", and more"
		}
	}
	if err := s.im.tellPolicy(ctx, inst); err != nil { // what a person has said since it began
		return nil, err
	}
	e := s.newEvaluation(thread, r, &trial)
	if err := e.send(); err != nil {
		return nil, err
	}
	s.begun(j)
	res, err := e.run(ctx)
	if err != nil {
		return nil, err
	}
	if f := res.Failure; f != nil && inst.over() {
		f.Message = "The copy in which it was tried has ended: " + strings.TrimSuffix(inst.epitaph(), ".") + "."
	}
	note := "Only tried: the session is as it was before."
	if names := defined.Names(); len(names) > 0 {
		note += " It would have defined " + strings.Join(names, ", ") + more + "."
	}
	res.Notes = append(res.Notes, note)
	return res, nil
}

// trialImage starts a copy of the image as it is now, while no job runs.
func (s *Session) trialImage(ctx context.Context, limit time.Duration) (*instance, error) {
	if err := s.workApart(ctx, limit); err != nil {
		return nil, err
	}
	defer s.im.working.unlock()
	for attempt := 1; ; attempt++ {
		c, err := s.present(ctx, "", limit)
		if err != nil {
			return nil, err
		}
		inst, err := s.im.beginFrom(ctx, c)
		if err == nil || c.copy.Alive() || attempt == 3 || ctx.Err() != nil { // its copy may just have been dropped
			return inst, err
		}
	}
}
