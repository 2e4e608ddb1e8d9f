package web

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"swank-mcp/people/control"
)

// evaluate evaluates what a person has typed, in the session of the agent, which is told.
func (s *Server) evaluate(r *http.Request) (string, error) {
	code := strings.ReplaceAll(r.PostFormValue("code"), "\r\n", "\n") // as forms send it
	if strings.TrimSpace(code) == "" {
		return "", errors.New("there is no code: type a form")
	}
	a, err := s.server().Evaluate(r.Context(), r.PostFormValue("session"), code)
	if err != nil {
		return "", err
	}
	return came(a), nil
}

// restart has a suspended evaluation go on.
func (s *Server) restart(r *http.Request) (string, error) {
	number, err := strconv.Atoi(r.PostFormValue("evaluation"))
	if err != nil {
		return "", errors.New("no evaluation is named")
	}
	a, err := s.server().Restart(r.Context(), r.PostFormValue("session"), number, r.PostFormValue("restart"), r.PostFormValue("values"))
	if err != nil {
		return "", err
	}
	return came(a), nil
}

func came(a *control.Evaluated) string {
	switch {
	case a.Suspended != 0:
		return fmt.Sprintf("Suspended as evaluation %d.", a.Suspended)
	case a.Failure != "":
		return line(a.Failure)
	case len(a.Values) == 0:
		return "No values."
	}
	var values []string
	for _, v := range a.Values {
		values = append(values, cutLine(v))
	}
	return "⇒ " + strings.Join(values, ", ")
}

// cutLine is the beginning of a text as one line.
func cutLine(s string) string {
	if runes := []rune(s); len(runes) > 200 {
		s = string(runes[:200]) + "…"
	}
	return line(s)
}
