package control

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
)

// Frame is a frame of a suspended evaluation, as GET /frame answers it in JSON.
type Frame struct {
	Locals  []Local  `json:"locals,omitempty"`
	Missing []string `json:"missing,omitempty"` // variables that have no value there
	Source  string   `json:"source,omitempty"`  // the form that it is at
	File    string   `json:"file,omitempty"`    // that its code came from
	Changed bool     `json:"changed,omitempty"` // that file is another one by now
}

// Local is a variable and its printed value.
type Local struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func (s *Server) frame(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	name, err := s.sessionFor(q.Get("session"))
	evaluation, bad1 := strconv.Atoi(q.Get("evaluation"))
	number, bad2 := strconv.Atoi(q.Get("frame"))
	if err == nil && (bad1 != nil || bad2 != nil) {
		err = errors.New("name an evaluation and a frame, for example /frame?evaluation=1&frame=0")
	}
	if err != nil {
		fail(w, err)
		return
	}
	f, err := s.o.Image.Session(name).InspectFrame(r.Context(), evaluation, number, false)
	if err == nil && f.Failure != nil {
		err = errors.New("the frame cannot be shown: " + f.Failure.Type + " " + f.Failure.Message)
	}
	if err != nil {
		fail(w, err)
		return
	}
	a := Frame{Missing: f.Missing, Source: f.Source, File: f.File, Changed: f.Changed}
	for _, l := range f.Locals {
		a.Locals = append(a.Locals, Local{l.Name, l.Value})
	}
	answer(w, a)
}

// Frame looks at a frame of a suspended evaluation. That prints values, which may run methods
// of the program; it takes some seconds at most.
func (c *Client) Frame(ctx context.Context, session string, evaluation, frame int) (*Frame, error) {
	ctx, cancel := context.WithTimeout(ctx, actPatience)
	defer cancel()
	a := new(Frame)
	q := url.Values{"session": {session}, "evaluation": {strconv.Itoa(evaluation)}, "frame": {strconv.Itoa(frame)}}
	return a, c.do(ctx, http.MethodGet, "/frame?"+q.Encode(), a)
}
