package lisp

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"swank-mcp/swank/lisp/helper"
)

// errNoFresh says that the request wants no fresh image.
var errNoFresh = errors.New("none was to be started")

// errMoving says that the files were others each time a fresh image had loaded them.
var errMoving = errors.New("the files, or the definitions, have changed meanwhile")

// judgeTries bounds how often a fresh image loads files that change meanwhile.
const judgeTries = 3

// judged calls ask, has a fresh image answer the questions that ask returns, tells the
// session's image, and calls ask again, until there are none. With r.Timeout 0 no fresh image
// is started. The first error says why none has answered; the second is that of ask.
func (s *Session) judged(ctx context.Context, r Request, ask func() (*questions, error)) (unjudged, err error) {
	s.im.lookAtProject(ctx)
	q, err := ask()
	if err != nil || q == nil {
		return nil, err
	}
	if r.Timeout == 0 {
		return errNoFresh, nil
	}
	select { // one fresh image at a time: it may answer the next caller, too
	case s.im.judging <- struct{}{}:
		defer func() { <-s.im.judging }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	for range judgeTries {
		if q, err = ask(); err != nil || q == nil {
			return nil, err
		}
		if err := s.im.judge(ctx, q, r); ctx.Err() != nil {
			return nil, context.Cause(ctx)
		} else if err != nil {
			return err, nil
		}
	}
	if q, err = ask(); err != nil || q == nil {
		return nil, err
	}
	return errMoving, nil
}

// judge has a fresh image load the project's files and tells the image what that has.
func (im *Image) judge(ctx context.Context, q *questions, r Request) error {
	r.Debug = defaultDebug // else no fasl is taken from those that are kept
	table, told := "", false
	fresh, err := im.runFresh(ctx, freshUse{Systems: q.Systems}, "", r, func(ctx context.Context, inst *instance, res *Result) (err error) {
		table, told = "", false
		if !inst.over() {
			table, err = inst.projectTable(ctx, q)
			told = err == nil
		}
		return err
	})
	if err != nil {
		return err
	}
	failure := ""
	if f := fresh.Result.Failure; f != nil {
		if f.Kind == KindTimeout || f.Kind == KindCancelled || f.Kind == KindStopped {
			return errors.New("loading the files in it was stopped")
		}
		failure = failureLine(fresh.Result)
	} else if !told {
		return errors.New("it ended before it told what it had")
	}
	inst, err := im.running(ctx)
	if err != nil || inst == nil {
		return err
	}
	ctx, done := inst.forAnswer(ctx)
	defer done()
	_, err = inst.askQuery(ctx, helper.NewCall("KNOW-TABLE").Str(q.State).Str(table).Str(failure))
	return err
}

// failureLine says in a line why loading has failed: what the compiler says of the first
// form that it does not read or compile, or else the error.
func failureLine(res *Result) string {
	for _, w := range res.Warnings {
		if strings.HasSuffix(w.Type, "ERROR") && w.File != "" {
			return fmt.Sprintf("%s:%d: %s", filepath.Base(w.File), w.Line, w.Message)
		}
	}
	return res.Failure.Type + ": " + res.Failure.Message
}

// projectTable asks inst, which has loaded the project, for what q asks. The text is empty if
// the project has no package of its own and q asks for nothing else.
func (inst *instance) projectTable(ctx context.Context, q *questions) (string, error) {
	ctx, cancel := inst.forAnswer(ctx)
	defer cancel()
	call := helper.NewCall("PROJECT-TABLE")
	for _, texts := range [][]string{q.Packages, q.Wanted, q.Codes} {
		call.Quote(len(texts), func(i int) { call.Str(texts[i]) })
	}
	answer, err := inst.askQuery(ctx, call)
	if err != nil {
		return "", err
	}
	var a struct {
		Table string `sexp:"table"`
		Long  bool   `sexp:"long"`
	}
	if err := helper.Decode(answer, &a); err != nil {
		return "", err
	}
	if a.Long {
		return "", errors.New("the project defines too much to be told")
	}
	return a.Table, nil
}
