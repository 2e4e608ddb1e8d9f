package web

import (
	"html/template"
	"net/http"
	"strconv"
	"strings"

	"swank-mcp/people/control"
)

// frameView is what the template of a frame is filled with.
type frameView struct {
	Title   string
	Text    string
	Problem string // why there is nothing of the rest
	Locals  []localView
	Missing string
	Source  template.HTML
	File    string
	Changed bool
}

type localView struct {
	Name  string
	Value template.HTML
}

// frame answers with a frame of a suspended evaluation: for the script what is put below the
// frame, else a page.
func (s *Server) frame(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	evaluation, _ := strconv.Atoi(q.Get("evaluation")) // the server says what is wrong with 0
	number, _ := strconv.Atoi(q.Get("frame"))
	v := frameView{Title: s.side.title(), Text: "Frame " + strconv.Itoa(number) + " of evaluation " + strconv.Itoa(evaluation)}
	if f, err := s.server().Frame(r.Context(), q.Get("session"), evaluation, number); err != nil {
		v.Problem = line(err.Error())
	} else {
		v.fill(f)
	}
	name := "frame-page"
	if q.Has("part") {
		name = "frame"
	}
	show(w, name, v)
}

func (v *frameView) fill(f *control.Frame) {
	for _, l := range f.Locals {
		v.Locals = append(v.Locals, localView{line(l.Name), highlight(safe(l.Value))})
	}
	v.Missing, v.File, v.Changed = line(strings.Join(f.Missing, ", ")), line(f.File), f.Changed
	v.Source = highlight(safe(f.Source))
}
