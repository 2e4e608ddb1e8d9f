package web

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"swank-mcp/people/control"
)

// questionView is what the template of a question to the person is filled with.
type questionView struct {
	Number int
	Text   string
	Left   string // how long the call waits for the answer
}

func questionsOf(st *control.Status) (all []questionView) {
	for _, q := range st.Questions {
		left := max(0, int(time.Until(q.Until).Round(time.Second).Seconds()))
		all = append(all, questionView{q.Number, line(q.Text), fmt.Sprintf("%d s left", left)})
	}
	return all
}

// policyView is one of what agents may do.
type policyView struct {
	Name, Says string
	Now        bool
}

// policiesOf are those that the image can have.
func policiesOf(st *control.Status) (all []policyView) {
	for _, p := range []policyView{
		{Name: "everything", Says: "Everything"},
		{Name: "new", Says: "Ask before it redefines what is mine"},
		{Name: "nothing", Says: "Ask before each evaluation"},
	} {
		if p.Name == "new" && st.Image.Launched {
			continue // what is in it counts as the agents'
		}
		p.Now = p.Name == st.Policy
		all = append(all, p)
	}
	return all
}

// allow says what agents may do without the person's yes.
func (s *Server) allow(r *http.Request) (string, error) {
	a, err := s.server().Allow(r.Context(), r.PostFormValue("policy"))
	if err != nil {
		return "", err
	}
	return map[string]string{
		"everything": "You are not asked.",
		"new":        "You are asked before an agent redefines what it has not defined.",
		"nothing":    "You are asked before each evaluation.",
	}[a.Policy], nil
}

// answer answers a question.
func (s *Server) answer(r *http.Request) (string, error) {
	number, err := strconv.Atoi(r.PostFormValue("question"))
	said := r.PostFormValue("answer")
	if err != nil || said != "yes" && said != "no" {
		return "", errors.New("no question is named, or no answer")
	}
	a, err := s.server().Answer(r.Context(), number, said == "yes")
	if err != nil {
		return "", err
	}
	if a.Allowed {
		return "Allowed: " + line(a.Question.Text), nil
	}
	return "Not allowed: " + line(a.Question.Text), nil
}
