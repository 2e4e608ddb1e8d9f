package lisp

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"swank-mcp/swank/lisp/helper"
	"swank-mcp/swank/lisp/journal"
)

// A batch stays well below the largest frame, and within a board.
const (
	restoreEntries = 1000
	restoreBytes   = 2 << 20
)

// moveTo makes l's image that of s: what the session has defined in another one
// is evaluated again. The holder of the turn calls it; the next result tells.
func (s *Session) moveTo(ctx context.Context, l *lane) error {
	lv, home := l.lv, s.home
	if home == lv {
		return nil
	}
	if home == nil {
		s.home = lv
		s.notes = append(s.notes, lv.proc.Remarks()...)
		if lv.attached() {
			s.notes = append(s.notes, lv.join(ctx, s.name)...)
		}
		return nil
	}
	if lv.attached() {
		s.home = lv
		s.notes = append(s.notes, s.rejoined(home, lv))
		found := lv.join(ctx, s.name)
		if home.imageID() != lv.imageID() {
			s.notes = append(s.notes, found...)
		}
		return nil
	}
	s.catchUp()
	how := "The image was replaced, because the one before ended: " + home.epitaph() + "."
	switch {
	case s.im.cfg.NoRecovery:
		s.journal = journal.Journal{}
		how += " Recovery is off (--no-recovery): the session starts empty."
	case !s.journal.Empty():
		text, err := s.restore(ctx, l)
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
	s.home = lv
	s.notes = append(s.notes, how)
	return nil
}

// restoreTitle is what others are told that wait until a session is brought back.
const restoreTitle = "(bringing the session back)"

// restore evaluates the journal in l and says what came of it. The error
// errImageSpent asks for another image. What restoring may cost is bounded by
// itself; it is no part of the time that the caller's code may take.
func (s *Session) restore(ctx context.Context, l *lane) (string, error) {
	if s.recovery == nil {
		s.recovery = newRecovery()
	}
	r := s.recovery
	b := newBoard(l.lv)
	defer b.close()
	why := map[*journal.Entry]string{} // of those that have failed and not succeeded
	done := map[*journal.Entry]bool{}
	todo := r.todo(s.journal.All(), why)
	tainted := false
	for pass, batches := 0, 0; pass < 2 && len(todo) > 0; pass++ {
		for ; len(todo) > 0; batches++ {
			todo = slices.DeleteFunc(todo, func(e *journal.Entry) bool { return r.skip[e] != "" || e.Bad != "" })
			n := batchSize(todo)
			if b == nil || r.singly {
				n = min(n, 1)
			}
			if n == 0 {
				break
			}
			b.clear()
			batch := todo[:n]
			var failures []wireFailure
			j := job{
				title: restoreTitle,
				call:  func(e *evaluation) *helper.Call { return restoreCall(s, batch, b, e.token) },
				learn: func(a *wireAnswer) { failures = a.Failures },
			}
			if b != nil {
				j.hopeless = b.hopeless
			}
			e := s.newEvaluation(l, Request{Timeout: time.Hour}, j)
			err := e.send()
			for errors.Is(err, ErrTooLarge) && len(batch) > 1 {
				batch = batch[:len(batch)/2]
				err = e.send()
			}
			todo = todo[len(batch):]
			switch {
			case errors.Is(err, ErrTooLarge): // that one alone
				note(batch, []wireFailure{{Why: "its source is too large for one message to the image"}}, done, why)
				continue
			case err != nil:
				return "", err
			}
			res, err := e.run(ctx)
			switch {
			case err != nil:
				return "", err
			case res.Failure != nil && l.lv.over():
				r.blame(batch, b, l.lv)
				return "", errImageSpent
			case res.Failure != nil:
				return broughtToAnEnd(res.Failure), nil
			}
			r.learn(batch, b)
			note(batch, failures, done, why)
			for _, f := range failures {
				r.ended(batch[f.Index], f.End, f.Why)
				tainted = tainted || f.End.kind() == endForced
			}
		}
		if tainted {
			// Nobody knows what state code leaves behind that is broken off while it
			// has interrupts off.
			l.lv.kill("code that it brought back ran with interrupts off and was broken off")
			r.spent++
			return "", errImageSpent
		}
		if batches < 2 {
			break
		}
		// Once more, now that later batches are there.
		for _, e := range s.journal.All() {
			if why[e] != "" && !slices.Contains(todo, e) {
				todo = append(todo, e)
			}
		}
		todo = r.todo(todo, why)
	}
	return s.journal.Restored(why, func(reason string) string { return firstLine(reason, 160) }), nil
}

// broughtToAnEnd says why a session is not brought back any further.
func broughtToAnEnd(f *Failure) string {
	why := cmp.Or(strings.Join(slices.DeleteFunc([]string{f.Type, strings.TrimSpace(f.Message)}, func(s string) bool { return s == "" }), ": "),
		"it took too long")
	return "Bringing the session back was stopped: " + strings.TrimSuffix(why, ".") + "."
}

// note sorts the entries of a batch into those that are done and those that
// failed, and why. One that stands twice needs to succeed once.
func note(batch []*journal.Entry, failures []wireFailure, done map[*journal.Entry]bool, why map[*journal.Entry]string) {
	failed := map[int]string{}
	for _, f := range failures {
		failed[f.Index] = f.End.words(f.Why)
	}
	for i, e := range batch {
		if w, ok := failed[i]; !ok {
			done[e] = true
			delete(why, e)
		} else if !done[e] {
			why[e] = w
		}
	}
}

func batchSize(entries []*journal.Entry) int {
	bytes := 0
	for i, e := range entries {
		if bytes += len(e.Text); i > 0 && (bytes > restoreBytes || i == restoreEntries) {
			return i
		}
	}
	return len(entries)
}

// restoreCall evaluates a batch.
func restoreCall(s *Session, batch []*journal.Entry, b *board, token int64) *helper.Call {
	c := helper.NewCall("RESTORE")
	c.Quote(len(batch), func(i int) {
		text, pkg := batch[i].Source()
		c.Str(text).Str(pkg).Num(grace(batch[i]).Milliseconds())
	})
	c.Key("SESSION").Str(s.name).Key("TOKEN").Num(token)
	if r := s.recovery; r != nil {
		c.Key("PATIENCE").Num(r.patience.Milliseconds()).Key("ALLOWANCE").Num(r.allowance.Milliseconds())
	}
	if b != nil {
		c.Key("FILE").Str(b.name())
	}
	if s.journal.Package != "" {
		c.Key("PACKAGE").Str(s.journal.Package)
	}
	return c
}

// broughtBack brings a session back before it is looked at from outside an
// evaluation, if its image has died.
func (s *Session) broughtBack(ctx context.Context) error {
	s.im.mu.Lock()
	cur := s.im.cur
	s.im.mu.Unlock()
	if home := s.where.Load(); home == nil || home == cur && !home.over() {
		return nil
	}
	return s.alone(ctx, restoreTitle, startPatience, func() error {
		_, err := s.prepare(ctx, startPatience)
		return err
	})
}
