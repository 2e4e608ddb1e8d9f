package control

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"swank-mcp/swank/lisp"
)

// Question is what the person is asked before an agent's code runs, or redefines something.
// The transcript has an entry "asked" when it is asked, and one "answered" when it needs no
// answer any more, whoever has given one.
type Question struct {
	Number int       `json:"number"`
	Text   string    `json:"text"` // who evaluates, or redefines, what; one line
	Asked  time.Time `json:"asked"`
	Until  time.Time `json:"until"` // when the call gives up
}

// Settled is a question that was answered.
type Settled struct {
	Question Question `json:"question"`
	Allowed  bool     `json:"allowed"`
}

// Allowed tells what agents may do without the person's yes.
type Allowed struct {
	Policy string `json:"policy"` // "everything", "new" or "nothing"
}

// policies are those of package lisp.
var policies = []lisp.Policy{lisp.AllowEverything, lisp.AllowNew, lisp.AllowNothing}

func (s *Server) allow(w http.ResponseWriter, r *http.Request) {
	policy := lisp.Policy(r.URL.Query().Get("policy"))
	err := errors.New("name a policy: everything, new or nothing; for example /allow?policy=nothing")
	if slices.Contains(policies, policy) {
		err = s.o.Image.Allow(r.Context(), policy)
	}
	if err != nil {
		fail(w, err)
		return
	}
	answer(w, Allowed{string(s.o.Image.Policy())})
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	number, err := strconv.Atoi(q.Get("question"))
	said := lisp.Answer(q.Get("answer"))
	if err != nil || said != lisp.AnswerYes && said != lisp.AnswerNo {
		fail(w, errors.New("name a question and an answer, for example /answer?question=1&answer=yes"))
		return
	}
	question, err := s.o.Image.AnswerQuestion(r.Context(), number, said == lisp.AnswerYes)
	if errors.Is(err, lisp.ErrNoQuestion) {
		err = fmt.Errorf("there is no question %d", number)
	}
	if err != nil {
		fail(w, err)
		return
	}
	what := "did not allow: "
	if said == lisp.AnswerYes {
		what = "allowed: "
	}
	s.note("", what+question.Text)
	answer(w, Settled{Question{question.Number, question.Text, question.Asked, question.Until}, said == lisp.AnswerYes})
}

// Allow says what agents may do without the person's yes: "everything", "new" (not: redefine
// what they have not defined) or "nothing".
func (c *Client) Allow(ctx context.Context, policy string) (*Allowed, error) {
	a := new(Allowed)
	return a, c.act(ctx, "allow?policy="+url.QueryEscape(policy), a)
}

// Answer answers the question of that number. It fails if the question was answered already
// or needs no answer any more, with a sentence that says so.
func (c *Client) Answer(ctx context.Context, question int, yes bool) (*Settled, error) {
	a, said := new(Settled), lisp.AnswerNo
	if yes {
		said = lisp.AnswerYes
	}
	return a, c.act(ctx, fmt.Sprintf("answer?question=%d&answer=%s", question, said), a)
}
