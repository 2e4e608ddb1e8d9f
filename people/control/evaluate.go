package control

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"swank-mcp/swank/lisp"
)

// Evaluated tells what came of what a person has evaluated. The transcript has all of it.
type Evaluated struct {
	Session   string   `json:"session"`
	Values    []string `json:"values"`
	Failure   string   `json:"failure,omitempty"`   // kind and type, or ""
	Suspended int      `json:"suspended,omitempty"` // number of the evaluation, if it waits in the debugger
}

const (
	evaluateLimit = 10 * time.Minute // stop ends it before
	maxCode       = 1 << 20          // bytes
)

func (s *Server) evaluate(w http.ResponseWriter, r *http.Request) {
	name, err := s.sessionToEvaluateIn(r.Context(), r.URL.Query().Get("session"))
	if err != nil {
		fail(w, err)
		return
	}
	code, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxCode))
	if err == nil && strings.TrimSpace(string(code)) == "" {
		err = errors.New("there is no code: send a form")
	}
	if err != nil {
		fail(w, err)
		return
	}
	res, err := s.o.Image.Session(name).EvaluateForPerson(r.Context(), lisp.Request{Code: string(code), Timeout: evaluateLimit, Debug: 1})
	s.evaluated(w, name, res, err)
}

// sessionToEvaluateIn is sessionFor, or one in which nothing was evaluated yet: the first
// evaluation of all makes a session.
func (s *Server) sessionToEvaluateIn(ctx context.Context, name string) (string, error) {
	if len(s.o.Image.Sessions()) == 0 && namesNone(name) {
		return defaultSession, nil
	}
	found, err := s.sessionFor(name)
	if err != nil && s.shows(ctx, name) {
		return name, nil
	}
	return found, err
}

// shows reports whether the status has a session of that name.
func (s *Server) shows(ctx context.Context, name string) bool {
	return slices.ContainsFunc(s.o.Image.Overview().Sessions, func(one lisp.SessionOverview) bool { return one.Name == name })
}

func (s *Server) restart(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	name, err := s.sessionFor(q.Get("session"))
	number, bad := strconv.Atoi(q.Get("evaluation"))
	if err == nil && (bad != nil || q.Get("restart") == "") {
		err = errors.New("name an evaluation and a restart, for example /restart?evaluation=1&restart=0")
	}
	values, unread := io.ReadAll(http.MaxBytesReader(w, r.Body, maxCode))
	if err = cmp.Or(err, unread); err != nil {
		fail(w, err)
		return
	}
	c := lisp.DebuggerCall{Op: lisp.InvokeRestart, Number: number, Restart: q.Get("restart"), Anew: true}
	res, err := s.o.Image.Session(name).DebugForPerson(r.Context(), c, lisp.Request{Code: string(values), Timeout: evaluateLimit, Debug: 1, Suspend: true})
	s.evaluated(w, name, res, err)
}

func (s *Server) evaluated(w http.ResponseWriter, session string, res *lisp.Result, err error) {
	if err != nil {
		fail(w, s.whyNotUndone(err))
		return
	}
	a := Evaluated{Session: session, Values: []string{}}
	for _, v := range res.Values {
		a.Values = append(a.Values, v.Head+v.Tail)
	}
	if f := res.Failure; f != nil {
		a.Failure = strings.TrimSpace(fmt.Sprintf("%s %s", f.Kind, f.Type))
	}
	if res.Suspended != nil {
		a.Suspended = res.Suspended.Number
	}
	answer(w, a)
}

// Evaluate evaluates code in that session, or the only one.
func (c *Client) Evaluate(ctx context.Context, session, code string) (*Evaluated, error) {
	a := new(Evaluated)
	return a, c.send(ctx, http.MethodPost, "/evaluate?session="+url.QueryEscape(session), code, a)
}

// Restart has a suspended evaluation go on from one of its restarts. Values has a form for each
// value that the restart wants.
func (c *Client) Restart(ctx context.Context, session string, evaluation int, restart, values string) (*Evaluated, error) {
	a := new(Evaluated)
	q := url.Values{"session": {session}, "evaluation": {strconv.Itoa(evaluation)}, "restart": {restart}}
	return a, c.send(ctx, http.MethodPost, "/restart?"+q.Encode(), values, a)
}
