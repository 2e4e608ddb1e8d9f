package lisp

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"swank-mcp/swank/lisp/helper"
)

// errMoving is why a fresh image could not be asked about files that change all the time.
var errMoving = errors.New("the files, or the definitions, have changed meanwhile")

// judgeTries is how often a fresh image is asked while the files change.
const judgeTries = 3

// judged calls ask, has a fresh image answer the questions that ask returns, tells the
// session's image, and calls ask again, until there are none. The first error says why a
// fresh image could not answer; the second is that of ask.
func (s *Session) judged(ctx context.Context, r Request, ask func() (*questions, error)) (unjudged, err error) {
	s.im.lookAtProject(ctx)
	for range judgeTries {
		q, err := ask()
		if err != nil || q == nil {
			return nil, err
		}
		if err := s.im.judge(ctx, q, r); err != nil {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			return err, nil
		}
	}
	q, err := ask()
	if err != nil || q == nil {
		return nil, err
	}
	return errMoving, nil
}

// judge has a fresh image load the project's files and tells the image what that has. One
// fresh image is asked at a time; who has waited asks again what is left to ask.
func (im *Image) judge(ctx context.Context, q *questions, r Request) error {
	select {
	case im.judging <- struct{}{}:
		defer func() { <-im.judging }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	r.Debug = defaultDebug // else no fasl is taken from those that are kept
	var table string
	fresh, err := im.runFresh(ctx, freshUse{Systems: q.Systems}, "", r, func(ctx context.Context, inst *instance, res *Result) (err error) {
		table = ""
		if !inst.over() {
			table, err = inst.projectTable(ctx, q)
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
		if strings.HasSuffix(w.Type, "ERROR") {
			return fmt.Sprintf("%s:%d: %s", filepath.Base(w.File), w.Line, w.Message)
		}
	}
	return res.Failure.Type + ": " + res.Failure.Message
}

// projectTable asks inst, which has loaded the project, for what q asks.
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
	}
	if err := helper.Decode(answer, &a); err != nil {
		return "", err
	}
	if a.Table == "" {
		return "", errors.New("the project defines too much to be told")
	}
	return a.Table, nil
}
