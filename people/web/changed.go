package web

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
)

// changedView is what the template of what work has redefined is filled with.
type changedView struct {
	Definitions  []changedDefinition
	Entry, Token int64  // to put them back; 0: the server that could has ended
	One          bool   // there is one
	Undone       string // it was put back
}

type changedDefinition struct {
	What  string
	Lines []change // of the diff of the sources
	Says  string   // why there are none
}

func changedOf(c *cell) *changedView {
	e := &c.ended
	if len(e.Redefined) == 0 {
		return nil
	}
	v := &changedView{Entry: e.Entry, Token: e.Token, One: len(e.Redefined) == 1}
	if c.undone != "" {
		v.Undone = "You: " + line(c.undone)
	}
	if c.lost {
		v.Entry = 0
	}
	for _, d := range e.Redefined {
		one := changedDefinition{What: line(d.What)}
		switch {
		case d.Before == "" && d.After == "":
			one.Says = "The sources are not known, or too long."
		case d.Before == d.After:
			one.Says = "Its source is the same as before."
		default:
			one.Lines = diff(safe(d.Before), safe(d.After))
		}
		v.Definitions = append(v.Definitions, one)
	}
	return v
}

// putBack puts back what an evaluation has redefined. The agent's next reply says so.
func (s *Server) putBack(r *http.Request) (string, error) {
	entry, bad1 := strconv.ParseInt(r.PostFormValue("entry"), 10, 64)
	token, bad2 := strconv.ParseInt(r.PostFormValue("token"), 10, 64)
	if bad1 != nil || bad2 != nil {
		return "", errors.New("no evaluation is named")
	}
	a, err := s.server().PutBack(r.Context(), entry, token)
	if err != nil {
		return "", err
	}
	text := ""
	if len(a.Definitions) > 0 {
		text = "Put back: " + strings.Join(a.Definitions, ", ") + ". "
	}
	return line(text + strings.Join(a.Left, " ")), nil
}
