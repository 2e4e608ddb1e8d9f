package lisp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"swank-mcp/swank/lisp/helper"
)

// Job is what is known of an evaluation in the background.
type Job struct {
	Number int
	Code   string        // its beginning, one line
	Took   time.Duration // that it has run
	Limit  time.Duration // it is stopped after that
	Result *Result       // nil while it runs
	Read   bool          // the result has been asked for, or told by a tool of the debugger

	Stdout, Stderr Text // so far, of one that runs and that [Session.Job] was asked for
}

// JobError is a request about a job that there is not.
type JobError struct {
	Number int
	Jobs   []Job // those that there are, oldest first
}

func (e *JobError) Error() string { return fmt.Sprintf("lisp: there is no job %d", e.Number) }

// view is what is known of b. q.mu is held.
func (b *backgroundRun) view() Job {
	j := Job{Number: b.number, Code: b.code, Took: b.took, Limit: b.limit, Result: b.result, Read: b.read}
	if b.result == nil {
		j.Took = time.Since(b.began)
	}
	return j
}

// views is what is known of all, oldest first.
func (q *backgrounds) views() []Job {
	q.mu.Lock()
	defer q.mu.Unlock()
	jobs := make([]Job, len(q.all))
	for i, b := range q.all {
		jobs[i] = b.view()
	}
	return jobs
}

// find returns the one of that number and what is known of it. A result that is there has
// been read then.
func (q *backgrounds) find(number int) (*backgroundRun, Job, error) {
	q.mu.Lock()
	i := slices.IndexFunc(q.all, func(b *backgroundRun) bool { return b.number == number })
	if i < 0 {
		q.mu.Unlock()
		return nil, Job{}, &JobError{number, q.views()}
	}
	defer q.mu.Unlock()
	b := q.all[i]
	b.read = b.result != nil
	return b, b.view(), nil
}

// justNow is longer than the answer of a job that has ended is on its way.
const justNow = 200 * time.Millisecond

// Job tells what a job has printed so far, or its result. The error is a *JobError, or that
// of an image that does not answer.
func (s *Session) Job(ctx context.Context, number int) (*Job, error) {
	b, j, err := s.background.find(number)
	if err != nil || j.Result != nil {
		return &j, err
	}
	var w *struct {
		Stdout Text `sexp:"stdout"`
		Stderr Text `sexp:"stderr"`
	}
	bounded, cancel := b.e.inst.forAnswer(ctx)
	defer cancel()
	answer, err := b.e.inst.ask(bounded, helper.NewCall("JOB-OUTPUT").Num(b.e.token))
	if err == nil {
		err = helper.Decode(answer, &w)
	}
	if w != nil {
		j.Stdout, j.Stderr = w.Stdout, w.Stderr
		return &j, nil
	}
	select {
	case <-b.done: // it has just ended, or its image has
		_, j, err = s.background.find(number)
		return &j, err
	case <-time.After(justNow):
		if err != nil {
			err = b.e.inst.unanswered(ctx, err)
		}
		return &j, err // without an error it has not begun yet
	}
}

var (
	errJobAborted = errors.New("abort-evaluation ended it")
	errJobReset   = errors.New("reset-session ended it")
)

// AbortJob ends a job that runs and returns what has come of it. The error is a *JobError
// if none of that number runs, or the cause of ctx, which may end before the job.
func (s *Session) AbortJob(ctx context.Context, number int) (*Job, error) {
	b, j, err := s.background.find(number)
	if err == nil && j.Result != nil {
		err = &JobError{number, s.background.views()}
	}
	if err != nil {
		return nil, err
	}
	b.cancel(errJobAborted)
	select {
	case <-b.done:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	_, j, err = s.background.find(number)
	return &j, err
}

// endJobs ends all jobs that run, and returns those that do not end before ctx.
func (s *Session) endJobs(ctx context.Context, why error) (left []*backgroundRun) {
	running := s.background.running()
	for _, b := range running {
		b.cancel(why)
	}
	for _, b := range running {
		select {
		case <-b.done:
		case <-ctx.Done():
			left = append(left, b)
		}
	}
	return left
}
