package lisp

import (
	"context"
	"errors"
	"strings"
	"testing"

	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

// An image whose place is wanted lets its calls end first, ends its jobs, and is gone. Calls that
// wait begin in the next image; whose image it was is told, and has what was defined.
func TestEvict(t *testing.T) {
	t.Parallel()
	im := testImage(t)
	const whose, because = "somebody else", "it was put away for somebody else"
	mustEval(t, im, "(defun twice (x) (* 2 x)) (defvar *n* 1) (setf *n* 2)")
	s := im.Session("default")
	res, err := s.Evaluate(t.Context(), Request{Code: "(progn (defun thrice (x) (* 3 x)) (loop (sleep 0.01)))", Timeout: callLimit, JobLimit: JobLimit, Debug: 1, Background: true})
	if err != nil || res.Failure != nil {
		t.Fatal(res, err)
	}
	await.True(t, "the job to define", func() bool { return mustEval(t, im, "(not (fboundp 'thrice))") == "NIL" })
	if end := im.CallsEnd(); !end.IsZero() {
		t.Errorf("beside a job alone, calls end at %v", end)
	}
	evaluate := func(session, code string) <-chan *Result {
		answer := make(chan *Result, 1)
		go func() {
			res, err := im.Session(session).Evaluate(t.Context(), Request{Code: code, Timeout: callLimit, Debug: 1})
			if err != nil {
				res = failed("", err.Error())
			}
			answer <- res
		}()
		return answer
	}
	g := await.NewGate(t)
	running := evaluate("default", g.Wait()+" *n*")
	g.Reached()
	if im.CallsEnd().IsZero() {
		t.Error("it is not known when the call ends")
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if err := im.Evict(gone, whose, func() { t.Error("it is gone") }); !errors.Is(err, context.Canceled) || !im.jobsRun() {
		t.Errorf("for one who has gone: %v; jobs run: %v", err, im.jobsRun())
	}
	evicted, told := make(chan error, 1), false
	go func() { evicted <- im.Evict(t.Context(), whose, func() { told = !im.Runs() }) }()
	waiting := func(n int) {
		t.Helper()
		await.True(t, "them to wait for the image", func() bool {
			im.working.mu.Lock()
			defer im.working.mu.Unlock()
			return len(im.working.queue) == n
		})
	}
	waiting(1)
	other := evaluate("other", "(boundp '*n*)")
	waiting(2)
	g.Open()
	if res := await.From(t, "the call to end", running); res.Failure != nil || res.Values[len(res.Values)-1].Head != "2" {
		t.Errorf("the call that ran: %+v", res)
	}
	if err := await.From(t, "the image to be put away", evicted); err != nil || !told {
		t.Fatalf("%v; told: %v", err, told)
	}
	if res := await.From(t, "the call that waited", other); res.Failure != nil || res.Values[0].Head != "NIL" {
		t.Errorf("the call that waited has not begun in the next image: %+v", res)
	}
	j, err := s.Job(t.Context(), 1)
	if err != nil || j.Result == nil || j.Result.Failure.Type != typeLimit || j.Result.Failure.Message != "Its image was put away for somebody else." {
		t.Errorf("the job: %+v, %v", j.Result, err)
	}
	res, err = s.Evaluate(t.Context(), Request{Code: "(list (twice 21) (thrice 21) *n*)", Timeout: callLimit, Debug: 1})
	if err != nil || res.Failure != nil || res.Values[0].Head != "(42 63 1)" {
		t.Fatalf("after it: %+v, %v", res, err)
	}
	if notes := strings.Join(res.Notes, "\n"); !strings.Contains(notes, because+". Restored: ") {
		t.Errorf("notes: %s", notes)
	}
}

// jobOwner is an [Owner] that admits all images, and so many jobs.
type jobOwner struct{ room, begun, ended int }

func (*jobOwner) Admit(context.Context) (func(), error) { return func() {}, nil }

func (o *jobOwner) BeginJob() (func(), string) {
	if o.begun-o.ended >= o.room {
		return nil, "There is no room for a job."
	}
	o.begun++
	return func() { o.ended++ }, ""
}

// The owner of an image limits its jobs: those that begin as one, and those that go into the
// background at their time limit. Each that has had room gives it back once.
func TestLimitJobs(t *testing.T) {
	tier.More(t)
	t.Parallel()
	im, o := testImage(t), &jobOwner{room: 1}
	im.Own(o)
	s := im.Session("default")
	first, g := await.NewGate(t), await.NewGate(t)
	job := func(code string) *Result {
		t.Helper()
		res, err := s.Evaluate(t.Context(), Request{Code: code, Timeout: callLimit, JobLimit: JobLimit, Debug: 1, Background: true})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	if res := job(first.Hold()); res.Failure != nil || res.Job != 1 {
		t.Fatalf("the first: %+v", res)
	}
	if res := job("1"); res.Failure == nil || res.Failure.Type != typeTooManyJobs || res.Failure.Message != "Nothing was evaluated: There is no room for a job." {
		t.Errorf("one too many: %+v", res)
	}
	gone, leave := context.WithCancel(t.Context())
	answer := make(chan *Result, 1)
	go func() {
		res, _ := s.Evaluate(gone, Request{Code: g.Wait(), Timeout: callLimit, JobLimit: JobLimit, Debug: 1, OnTimeout: true})
		answer <- res
	}()
	g.Reached()
	leave()
	if res := await.From(t, "the call that is given up to be stopped", answer); res != nil && res.Job != 0 {
		t.Errorf("it goes on: %+v", res)
	}
	first.Open()
	await.True(t, "the first to end", func() bool { return !im.jobsRun() })
	mustEval(t, im, "1")
	if res := job("2"); res.Failure != nil || res.Job == 0 {
		t.Errorf("the next: %+v", res)
	}
	await.True(t, "it to end", func() bool { return !im.jobsRun() })
	ctx, cancel := await.Limited(context.Background())
	defer cancel()
	if err := im.Close(ctx); err != nil { // with its goroutines
		t.Fatal(err)
	}
	if o.begun != 2 || o.ended != 2 {
		t.Errorf("%d have begun, %d have ended", o.begun, o.ended)
	}
}
