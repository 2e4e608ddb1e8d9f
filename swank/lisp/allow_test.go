package lisp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"swank-mcp/internal/await"
)

// asksFor waits until the person is asked for the call whose result comes by c, and returns
// the question.
func asksFor(t *testing.T, im *Image, c <-chan *Result, text string) Question {
	t.Helper()
	var q []Question
	await.True(t, "a question for "+text, func() bool {
		if q = im.Questions(); len(q) == 1 && strings.Contains(q[0].Text, text) {
			return true
		}
		select {
		case res := <-c:
			t.Fatalf("nobody was asked for %s, and it has ended: %s", text, ending(res))
		default:
		}
		return false
	})
	return q[0]
}

// ending tells how a call has ended.
func ending(res *Result) string {
	if res == nil {
		return "with an error"
	}
	return fmt.Sprintf("values %v, failure %+v, notes %q, suspended %v, job %d", res.Values, res.Failure, res.Notes, res.Suspended != nil, res.Job)
}

func refusedAs(t *testing.T, c <-chan *Result, message string) {
	t.Helper()
	if f := (<-c).Failure; f == nil || f.Type != "NOT-ALLOWED" || !strings.Contains(f.Message, message) {
		t.Errorf("the failure is %+v", f)
	}
}

// The person of a launched image is asked by who shows them its questions: also in images
// that take its place, in trials, and after an undo to before they wanted that.
func TestAllow(t *testing.T) {
	t.Parallel()
	im := testImage(t)
	sub := im.Subscribe(1000, false)
	if err := im.Allow(t.Context(), AllowNew); !errors.Is(err, ErrAllAgents) {
		t.Errorf("Allow(new): %v", err)
	}
	mustEval(t, im, "(defvar *x* 1)")
	steps := func(n int) {
		t.Helper()
		await.True(t, "a checkpoint is taken", func() bool { return im.Overview().Checkpoints >= n })
	}
	steps(1)
	mustEval(t, im, "(setf *x* 2)")
	steps(2)
	if err := im.Allow(t.Context(), AllowNothing); err != nil || im.Policy() != AllowNothing {
		t.Fatalf("Allow: %v", err)
	}
	c := evaluating(t, im, "default", "(list :first)")
	q := asksFor(t, im, c, "(default) evaluates: (list :first)")
	if open := q.Until.Sub(q.Asked); q.Number != 1 || open != 20*time.Second {
		t.Errorf("the question is %+v", q)
	}
	if _, err := im.AnswerQuestion(t.Context(), 1, true); err != nil {
		t.Error(err)
	}
	if v := (<-c).Values; len(v) != 1 || v[0].Head != "(:FIRST)" {
		t.Errorf("the values are %v", v)
	}
	var over *AnsweredError
	if _, err := im.AnswerQuestion(t.Context(), 1, false); !errors.As(err, &over) || over.Answer != AnswerYes {
		t.Errorf("a second answer: %v", err)
	}
	if _, err := im.AnswerQuestion(t.Context(), 2, false); !errors.Is(err, ErrNoQuestion) {
		t.Errorf("an answer to nothing: %v", err)
	}
	c = evaluating(t, im, "default", "(setf *x* 3)")
	asksFor(t, im, c, "(setf *x* 3)")
	im.AnswerQuestion(t.Context(), 2, false)
	refusedAs(t, c, "does not allow this")

	// Of two that are asked at once each has its own answer; a stop ends one without.
	one, two := evaluating(t, im, "one", ":one"), evaluating(t, im, "two", ":two")
	if await.Until(func() bool { return len(im.Questions()) == 2 }) != nil {
		t.Fatalf("of two open are %+v", im.Questions())
	}
	for _, q := range im.Questions() {
		if strings.Contains(q.Text, ":two") {
			im.AnswerQuestion(t.Context(), q.Number, true)
		}
	}
	if v := (<-two).Values; len(v) != 1 || v[0].Head != ":TWO" {
		t.Errorf("the values are %v", v)
	}
	im.Stop(t.Context())
	if f := (<-one).Failure; f == nil || f.Kind != KindStopped {
		t.Errorf("the failure is %+v", f)
	}
	if q := im.Questions(); len(q) != 0 {
		t.Errorf("open are %+v", q)
	}

	// The image goes back to before.
	if _, err := im.Session("default").UndoForPerson(t.Context(), 1, "", time.Minute); err != nil {
		t.Fatal(err)
	}
	c = evaluating(t, im, "default", "(incf *x*)")
	q = asksFor(t, im, c, "(incf *x*)")
	im.AnswerQuestion(t.Context(), q.Number, true)
	<-c

	// A person of their own is not asked.
	res, err := im.Session("default").EvaluateForPerson(t.Context(), Request{Code: "(list :mine)", Timeout: callLimit, Debug: 1})
	if err != nil || res.Failure != nil {
		t.Errorf("the person's own: %v, %+v", err, res)
	}
	c = evaluating(t, im, "default", "(list :after)")
	q = asksFor(t, im, c, "(list :after)")
	im.AnswerQuestion(t.Context(), q.Number, true)
	<-c

	// A trial is an image of its own.
	trial := make(chan *Result, 1)
	go func() {
		res, err := im.Session("default").Evaluate(context.WithoutCancel(t.Context()), Request{Code: "(list :tried)", Timeout: callLimit, Debug: 1, Trial: true})
		if err != nil {
			t.Errorf("the trial: %v", err)
		}
		trial <- res
	}()
	q = asksFor(t, im, trial, "(list :tried)")
	if _, err := im.AnswerQuestion(t.Context(), q.Number, false); err != nil {
		t.Error(err)
	}
	refusedAs(t, trial, "does not allow this")

	// An image that takes the place of one that has died.
	im.mu.Lock()
	inst := im.cur
	im.mu.Unlock()
	inst.proc.Kill()
	<-inst.conn.Done()
	c = evaluating(t, im, "default", "(list :again)")
	q = asksFor(t, im, c, "(list :again)")
	im.AnswerQuestion(t.Context(), q.Number, true)
	<-c
	if err := im.Allow(t.Context(), AllowEverything); err != nil {
		t.Error(err)
	}
	mustEval(t, im, "(list :free)")
	var told []string
	for len(sub.C) > 0 {
		switch ev := <-sub.C; ev.Kind {
		case EventAsked, EventAnswered, EventPolicy:
			told = append(told, string(ev.Kind)+" "+ev.Text)
		}
	}
	if text := strings.Join(told[:5], "\n"); text != "policy nothing\nasked  (default) evaluates: (list :first)\nanswered yes\nasked  (default) evaluates: (setf *x* 3)\nanswered no" {
		t.Errorf("events:\n%s", text)
	}
}
