package lisp

import (
	"context"
	"maps"
	"slices"

	"swank-mcp/swank/lisp/journal"
	"swank-mcp/swank/lisp/kept"
)

// defined returns what the sessions have defined, and what inst has of that. The caller
// holds im.working alone, and no job runs: nobody else has the journals.
func (im *Image) defined(inst *instance) kept.Work {
	base := &kept.Work{}
	if from := im.disk.goneOnFrom(); inst.origin != nil {
		base = &inst.origin.Work
	} else if from != nil && inst.resumed {
		base = &from.Work
	} else if from != nil { // it cannot be gone on from any more
		base.Sessions, base.Behind = from.Sessions, map[string]*journal.Journal{}
		for name := range from.Sessions {
			base.Behind[name] = &journal.Journal{}
		}
	}
	w := kept.Work{Sessions: map[string]*journal.Journal{}, Behind: map[string]*journal.Journal{}}
	maps.Copy(w.Sessions, base.Sessions)
	maps.Copy(w.Behind, base.Behind)
	im.mu.Lock()
	sessions := slices.Collect(maps.Values(im.sessions))
	im.mu.Unlock()
	for _, s := range sessions {
		home := s.home.Load()
		if home == nil {
			continue // it has what the image began with, when it comes
		}
		s.catchUp()
		w.Sessions[s.name] = s.journal.Clone()
		delete(w.Behind, s.name)
		if has := base.In(s.name); home != inst && s.journal.Newer(has) {
			w.Behind[s.name] = has
		}
	}
	return w
}

// again evaluates in the thread what the session has defined that is not in the journal
// then, which is what the thread's image has. It returns what there is to say, and what
// that was.
func (s *Session) again(ctx context.Context, thread *sessionThread, then *journal.Journal) (string, *journal.Journal, error) {
	full := s.journal
	since := full.Since(then)
	text := ""
	if !since.Empty() && !s.im.cfg.NoRecovery {
		s.journal = *since
		back, err := s.restore(ctx, thread, s.journal.BackAgain)
		*since, s.journal = s.journal, full
		if err != nil {
			return "", nil, err
		}
		text = " " + back
	}
	s.journal = *then.Clone()
	s.journal.Append(since)
	return text, since, nil
}
