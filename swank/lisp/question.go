package lisp

import (
	"context"
	"errors"
	"fmt"
	"time"

	"swank-mcp/swank/lisp/helper"
)

// A Question is what a person is asked before an agent's code runs, or redefines something.
type Question struct {
	Number int    // counted from 1 for this Image
	Text   string // who evaluates, or redefines, what; one line
	Asked  time.Time
	Until  time.Time // when the call gives up
}

// An Answer is what has become of a question.
type Answer string

// What becomes of a question. Silence is that nobody has answered in time; AnswerStopped
// that the call has ended before.
const (
	AnswerYes     Answer = "yes"
	AnswerNo      Answer = "no"
	AnswerSilence Answer = "silence"
	AnswerStopped Answer = "stopped"
)

// asked is a question with its place.
type asked struct {
	Question
	inst   *instance // nil is one that was not ready: it counts as the one that runs
	number int64     // in it
	answer Answer    // "" while it is open
}

const (
	maxAsked    = 50
	askedLeeway = 2 * time.Second // after which a question that is over is not open
)

// asks takes in a question: its number in the image and for how many seconds it is open.
// The reader of the connection calls it.
func (im *Image) asks(inst *instance, words []string, text string) {
	n, ok := number(words)
	if !ok {
		return
	}
	limit, err := time.ParseDuration(words[1] + "s")
	if err != nil {
		return
	}
	im.mu.Lock()
	defer im.mu.Unlock()
	im.askeds++
	now := time.Now()
	q := Question{Number: im.askeds, Text: text, Asked: now, Until: now.Add(limit)}
	im.asked = append(im.asked, asked{Question: q, inst: inst, number: n})
	im.asked = im.asked[max(0, len(im.asked)-maxAsked):]
	im.events.publish(Event{Kind: EventAsked, Number: q.Number, Text: text, Limit: limit})
}

// answered takes in what has become of a question. The reader of the connection calls it.
func (im *Image) answered(inst *instance, words []string) {
	n, ok := number(words)
	if !ok {
		return
	}
	im.mu.Lock()
	defer im.mu.Unlock()
	for i := range im.asked {
		if q := &im.asked[i]; (q.inst == inst || q.inst == nil) && q.number == n && q.answer == "" {
			q.answer = Answer(words[1])
			im.events.publish(Event{Kind: EventAnswered, Number: q.Number, Text: words[1]})
		}
	}
}

// open reports whether the call still waits for the answer.
func (q *asked) open() bool {
	return q.answer == "" && (q.inst == nil || !q.inst.over()) && time.Now().Before(q.Until.Add(askedLeeway))
}

// Questions returns those that wait for an answer, oldest first.
func (im *Image) Questions() []Question {
	im.mu.Lock()
	defer im.mu.Unlock()
	var open []Question
	for i := range im.asked {
		if im.asked[i].open() {
			open = append(open, im.asked[i].Question)
		}
	}
	return open
}

// ErrNoQuestion says that there is no question of a number.
var ErrNoQuestion = errors.New("lisp: no such question")

// AnsweredError says that a question has another answer already, or needs none any more.
type AnsweredError struct {
	Question Question
	Answer   Answer
}

func (e *AnsweredError) Error() string {
	switch e.Answer {
	case AnswerSilence:
		return fmt.Sprintf("lisp: too late: nobody has answered question %d in time", e.Question.Number)
	case AnswerYes, AnswerNo:
		return fmt.Sprintf("lisp: question %d was answered already, by %s", e.Question.Number, e.Answer)
	}
	return fmt.Sprintf("lisp: question %d needs no answer any more: the call has ended", e.Question.Number)
}

// AnswerQuestion answers the question of that number for the person, and returns it. The
// error is ErrNoQuestion, an [AnsweredError], that of an image that does not answer, or the
// cause of ctx.
func (im *Image) AnswerQuestion(ctx context.Context, number int, yes bool) (Question, error) {
	im.mu.Lock()
	var q asked
	for _, one := range im.asked {
		if one.Number == number {
			q = one
		}
	}
	inst := q.inst
	if inst == nil {
		inst = im.cur
	}
	im.mu.Unlock()
	switch {
	case q.Number == 0:
		return Question{}, ErrNoQuestion
	case q.answer != "":
		return q.Question, &AnsweredError{q.Question, q.answer}
	case inst == nil || inst.over():
		return q.Question, &AnsweredError{q.Question, AnswerStopped}
	}
	ctx, cancel := inst.forAnswer(ctx)
	defer cancel()
	c := helper.NewCall("ANSWER-QUESTION").Num(q.number)
	if yes {
		c.Yes()
	} else {
		c.No()
	}
	text, err := inst.ask(ctx, c)
	if err != nil {
		return q.Question, err
	}
	var w struct {
		Counts bool   `sexp:"counts"`
		Answer string `sexp:"answer"`
	}
	if err := helper.Decode(text, &w); err != nil {
		return q.Question, err
	}
	if !w.Counts {
		return q.Question, &AnsweredError{q.Question, Answer(w.Answer)}
	}
	return q.Question, nil
}
