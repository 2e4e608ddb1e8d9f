package lisp

import (
	"context"
	"time"

	"swank-mcp/swank/lisp/helper"
	"swank-mcp/swank/lisp/journal"
)

// Saved is a session as Lisp source.
type Saved struct {
	Text    string   // of a file that can be loaded; ends in a newline
	Summary string   // what it has, in words: "3 definitions and the system alexandria"
	Empty   bool     // there is nothing to save
	Dropped int      // older definitions that the journal had no room for
	Lost    []string // what it lacks of the session's definitions, and why
}

// SaveSession returns what the session has defined, as the source of a file of
// that name, in turn with its evaluations: it waits for those that came before
// at most as long as timeout says. No image needs to run.
func (s *Session) SaveSession(ctx context.Context, file string, timeout time.Duration) (saved *Saved, err error) {
	err = s.alone(ctx, "save-session "+file, timeout, func() error {
		saved, err = s.save(ctx, file)
		return err
	})
	return saved, err
}

func (s *Session) save(ctx context.Context, file string) (*Saved, error) {
	j := &s.journal
	var gone []string
	if err := s.im.queryRunning(ctx, helper.NewCall("UNDEFINED-DEFINITIONS").Str(s.name), &gone); err != nil {
		return nil, err
	}
	for _, key := range gone {
		j.Undefine(key)
	}
	return &Saved{Text: j.Source(file, time.Now()), Summary: j.Summary(), Empty: j.Empty(), Dropped: j.Dropped(), Lost: j.NotSaved()}, nil
}

// Loaded is what became of a file of forms.
type Loaded struct {
	Forms  int          `sexp:"forms"`
	Failed []FailedForm `sexp:"failed"` // the others were evaluated
}

// FailedForm is a form that could not be read or evaluated.
type FailedForm struct {
	_    struct{} `sexp:",list"`
	Line int      // where it begins, from 1
	Form string   // its first line
	Why  string   // TYPE: message
}

// SessionSource is the source of a session, which [Session.SaveSession] or a server before has
// written, or of any other forms.
type SessionSource struct {
	File string // what to call it
	Text string
	// Written is when. What it would take back of what the session has that is later is refused,
	// by a Failure of the type LaterInSession. Zero: nothing is refused.
	Written time.Time
}

// HeadOfSavedSession counts the bytes that [IsSavedSession] needs of a file.
const HeadOfSavedSession = journal.HeadOfSaved

// IsSavedSession reports whether a file that begins so was written by save-session.
func IsSavedSession(head string) bool { return journal.IsSaved(head) }

// LaterInSession is the Failure.Type of a source that would take something back.
const LaterInSession = "LATER-IN-SESSION"

// call makes the call that evaluates what rest returns of the source.
func (src SessionSource) call(rest func(string) string) *helper.Call {
	c := helper.NewCall("LOAD-FORMS").Str(rest(src.Text))
	if !src.Written.IsZero() {
		c.Key("WRITTEN").Num(src.Written.UnixMicro())
	}
	return c
}

// job makes a job, without a call, for src.
func (src SessionSource) job() job {
	return job{title: "load-session " + src.File, code: "(SWANK-MCP::LOAD-SESSION)"}
}

// LoadSession evaluates the forms of src in the session, going on behind
// those that fail. Result and error are those of [Session.Evaluate].
func (s *Session) LoadSession(ctx context.Context, src SessionSource, r Request) (*Loaded, *Result, error) {
	r.Debug = defaultDebug
	j := src.job()
	j.call = src.call(func(all string) string { return all })
	return reported[Loaded](ctx, s, r, j)
}

// BringBack is LoadSession of what another server has kept of the session, but for what the
// session has already: that may have values since.
// had says whether there was such. Where it is broken off, the file in which the session is
// kept stays as it is until the session defines something else. The time limit of r counts the
// time in which the image could act.
func (s *Session) BringBack(ctx context.Context, src SessionSource, r Request) (loaded *Loaded, res *Result, had bool, err error) {
	r.Debug = defaultDebug
	j := src.job()
	j.back = true
	j.whole = func(e *evaluation) *helper.Call {
		had = !e.s.journal.Empty()
		return e.options(src.call(e.s.journal.Without))
	}
	loaded, res, err = reported[Loaded](ctx, s, r, j)
	if err == nil && res.Failure == nil && len(loaded.Failed) == 0 {
		s.kept.Load().Back()
	}
	return loaded, res, had, err
}
