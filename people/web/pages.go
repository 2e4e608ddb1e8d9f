package web

import (
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"strings"
)

//go:embed pages
var pageFiles embed.FS

var templates = template.Must(template.ParseFS(pageFiles, "pages/*.html"))

// fill is a template filled with v.
func fill(name string, v any) string {
	var b strings.Builder
	if err := templates.ExecuteTemplate(&b, name, v); err != nil {
		return template.HTMLEscapeString(err.Error()) // a mistake in the template; tests fill each
	}
	return b.String()
}

// show answers with a whole page.
func show(w http.ResponseWriter, name string, v any) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write([]byte(fill(name, v))) // whoever has asked has gone
}

// pageSize is how many cells are sent at once.
const pageSize = 100

// pageView is what the template of the page is filled with.
type pageView struct {
	Title   string
	Parts   map[string]template.HTML
	Cells   template.HTML
	Version int64
	Older   int64 // the cell before which there are more, or 0
	Newer   int64 // the cell after which there are more, or 0
	Said    string
	Empty   bool
}

// part returns the cells that r asks for, and of which ones there are more.
func (s *Server) part(r *http.Request) (v pageView) {
	q := r.URL.Query()
	before, _ := strconv.ParseInt(q.Get("before"), 10, 64)
	after, _ := strconv.ParseInt(q.Get("after"), 10, 64)
	var cells []cell
	var more bool
	if q.Has("after") {
		cells, more, v.Version = s.book.after(after, pageSize)
	} else {
		cells, more, v.Version = s.book.before(before, pageSize)
	}
	var b strings.Builder
	for _, c := range cells {
		b.WriteString(c.html)
	}
	v.Cells = template.HTML(b.String())
	if v.Empty = len(cells) == 0; v.Empty {
		return v
	}
	first, last := cells[0].id, cells[len(cells)-1].id
	if q.Has("after") && after > 0 || more && !q.Has("after") {
		v.Older = first
	}
	if q.Has("after") && more || before > 0 {
		v.Newer = last
	}
	return v
}

func (s *Server) page(w http.ResponseWriter, r *http.Request) {
	s.look(r.Context())
	v := s.part(r)
	v.Parts, v.Title = map[string]template.HTML{}, s.side.title()
	parts, _ := s.side.now()
	for name, html := range parts {
		v.Parts[name] = template.HTML(html)
	}
	v.Said = s.said.take(r.URL.Query().Get("said"))
	show(w, "page", v)
}

// cells answers with a part of the notebook; the headers say whether there is more.
func (s *Server) cells(w http.ResponseWriter, r *http.Request) {
	v := s.part(r)
	w.Header().Set("X-Older", strconv.FormatInt(v.Older, 10))
	w.Header().Set("X-Newer", strconv.FormatInt(v.Newer, 10))
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write([]byte(v.Cells))
}

// cell answers with one cell, whole: for the script as it stands in the list, else as a page.
func (s *Server) cell(w http.ResponseWriter, r *http.Request) {
	id, _ := strconv.ParseInt(r.URL.Query().Get("id"), 10, 64)
	html := s.book.whole(id)
	if html == "" {
		http.Error(w, fmt.Sprintf("There is no entry %d any more.", id), http.StatusNotFound)
		return
	}
	if r.URL.Query().Has("part") {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(html))
		return
	}
	show(w, "whole", pageView{Title: s.side.title(), Cells: template.HTML(html)})
}
