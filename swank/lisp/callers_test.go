package lisp

import (
	"testing"
	"time"
)

// Whose a call is belongs to the call: an agent's job in the session does not make the
// person's calls, before and after it, the agent's.
func TestCallerIsOfTheCall(t *testing.T) {
	t.Parallel()
	im := testImage(t)
	s := im.Session("default")
	person := func(code string) {
		t.Helper()
		res, err := s.EvaluateForPerson(t.Context(), Request{Code: code, Timeout: time.Minute, Debug: 1})
		if err != nil || res.Failure != nil {
			t.Errorf("the person's %s: %v, %+v", code, err, res)
		}
	}
	person("(list :before)")
	res, err := s.Evaluate(t.Context(), Request{Code: "(list :job)", Timeout: time.Minute, Debug: 1, Background: true, JobLimit: time.Minute})
	if err != nil || res.Job == 0 {
		t.Fatalf("the job: %v, %+v", err, res)
	}
	b, _, err := s.background.find(res.Job)
	if err != nil {
		t.Fatal(err)
	}
	<-b.done
	if err := im.Allow(t.Context(), AllowNothing); err != nil {
		t.Fatal(err)
	}
	person("(list :after)")
	if q := im.Questions(); len(q) != 0 {
		t.Errorf("the person was asked: %+v", q)
	}
}
