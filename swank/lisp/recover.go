package lisp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"swank-mcp/swank/lisp/helper"
	"swank-mcp/swank/lisp/journal"
	"swank-mcp/swank/lisp/restore"
)

// moveTo makes the thread's image that of s: what the session has defined in another one
// is evaluated again. The holder of the turn calls it; the next result tells.
func (s *Session) moveTo(ctx context.Context, thread *sessionThread) error {
	inst, home := thread.inst, s.home.Load()
	if home == inst {
		return nil
	}
	if home == nil {
		said, err := s.takeUp(ctx, thread)
		if err != nil {
			return err
		}
		s.home.Store(inst)
		s.notes = append(s.notes, inst.proc.Remarks()...)
		s.notes = append(s.notes, said...)
		if inst.attached() {
			s.notes = append(s.notes, inst.join(ctx, s.name)...)
		}
		return nil
	}
	if inst.attached() {
		s.home.Store(inst)
		s.notes = append(s.notes, s.rejoined(home, inst))
		found := inst.join(ctx, s.name)
		if home.imageID() != inst.imageID() {
			s.notes = append(s.notes, found...)
		}
		return nil
	}
	s.catchUp()
	s.journal.NewImage()
	how := "The image was replaced, because the one before ended: " + home.epitaph() + "."
	switch {
	case inst.origin != nil:
		text, err := s.goneBack(ctx, thread)
		if err != nil {
			return err
		}
		how += " " + text
	case inst.resumed:
		core := s.im.disk.goneOnFrom()
		back, _, err := s.again(ctx, thread, core.In(s.name))
		if err != nil {
			return err
		}
		how += fmt.Sprintf(" It is as checkpoint %s on the disk was at %s, with all values.%s Nothing else that was evaluated since is in it.", core.Name, clock(core.Time), back)
	case s.im.cfg.NoRecovery:
		s.journal = journal.Journal{}
		how += " Recovery is off (--no-recovery): the session starts empty."
	case !s.journal.Empty():
		text, err := s.restore(ctx, thread, s.journal.Restored)
		if err != nil {
			return err
		}
		how += " " + text
	default:
		how += " " + s.journal.Nothing()
	}
	how += s.suspended.lost(home)
	s.recovery = nil
	s.journal.ForgetLosses()
	s.home.Store(inst)
	s.notes = append(s.notes, how)
	return nil
}

// restoreTitle is the title of the job for those who wait until a session is brought back.
const restoreTitle = "(bringing the session back)"

// errImageSpent says that bringing the session back has cost the image, and
// that more is known now: in the next one it comes further.
var errImageSpent = errors.New("lisp: the image ended while the session was brought back")

// restore evaluates the journal in the thread and has tell say what came of it. The error
// errImageSpent asks for another image. What restoring may cost is bounded by
// itself; it is no part of the time that the caller's code may take.
func (s *Session) restore(ctx context.Context, thread *sessionThread, tell func(map[*journal.Entry]string, func(string) string) string) (string, error) {
	if s.recovery == nil {
		s.recovery = restore.New()
	}
	a := s.recovery.Begin(&s.journal, thread.inst.dir())
	defer a.Close()
	for a.Next() {
		var failures []restore.Failure
		p := thread.inst.patience()
		e := s.newEvaluation(thread, Request{}, &job{
			title: restoreTitle,
			whole: func(e *evaluation) *helper.Call { return a.Call(s.name, e.token) },
			learn: func(w *wireAnswer) { failures = w.Failures },
			hopeless: func() string {
				p.look()
				return a.Hopeless(p.had)
			},
		})
		err := e.send()
		for errors.Is(err, ErrTooLarge) && a.Halve() {
			err = e.send()
		}
		switch {
		case errors.Is(err, ErrTooLarge):
			a.TooLarge()
			continue
		case err != nil:
			return "", err
		}
		res, err := e.run(ctx)
		ended := (err != nil || res.Failure != nil) && thread.inst.over()
		switch {
		case ended:
			a.Died(thread.inst.death(), thread.inst.epitaph())
		case err != nil:
			a.Left()
		}
		switch {
		case err != nil:
			return "", err
		case ended:
			return "", errImageSpent
		case res.Failure != nil:
			return broughtToAnEnd(res.Failure), nil
		}
		a.Done(failures)
	}
	if a.Tainted() {
		thread.inst.kill("code that it brought back ran with interrupts off and was broken off")
		return "", errImageSpent
	}
	return tell(a.Settle(), func(reason string) string { return firstLine(reason, 160) }), nil
}

// broughtToAnEnd says why a session is not brought back any further.
func broughtToAnEnd(f *Failure) string {
	why := cmp.Or(strings.Join(slices.DeleteFunc([]string{f.Type, strings.TrimSpace(f.Message)}, func(s string) bool { return s == "" }), ": "),
		"it took too long")
	return "Bringing the session back was stopped: " + strings.TrimSuffix(why, ".") + "."
}

// broughtBack brings a session back before it is looked at from outside an
// evaluation, if its image has died.
func (s *Session) broughtBack(ctx context.Context) error {
	if s.isBack() {
		return nil
	}
	return s.aside(ctx, restoreTitle, startPatience, func() error {
		_, err := s.prepare(ctx, startPatience)
		return err
	})
}
