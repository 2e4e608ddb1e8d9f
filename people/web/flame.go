package web

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"swank-mcp/people/transcript"
)

const (
	flameRow  = 18 // pixels of a function's height
	mostTotal = 12 // functions that are listed
)

// profileView is what a cell shows of its profile.
type profileView struct {
	ID   int64
	Says string
}

// flameView is what the template of a flame graph is filled with.
type flameView struct {
	Title  string
	Code   string
	Says   string
	Height int
	Boxes  []flameBox
	Totals []flameTotal
}

// flameBox is a function at its place: X and Width in percent, Y in pixels.
type flameBox struct {
	Name, Says string
	Kind       string // class of its colour
	X, Width   string
	Y          int
}

// flameTotal is a function with its part of all samples, wherever it stands.
type flameTotal struct {
	Name string
	Part string
	Kind string
}

var flameKinds = []string{"project", "program", "lisp", "internal"}

func flameKind(kind int64) string { return flameKinds[min(max(kind, 0), int64(len(flameKinds)-1))] }

func profileOf(c *cell) *profileView {
	p := c.ended.Profile
	if p == nil {
		return nil
	}
	return &profileView{c.id, profileSays(p)}
}

func profileSays(p *transcript.Profile) string {
	what := map[string]string{"cpu": "processor time", "time": "time", "alloc": "allocation"}[p.Mode]
	return fmt.Sprintf("Flame graph: %s, %d samples", cmp.Or(what, line(p.Mode)), p.Root.Samples)
}

// flame answers with the flame graph of a cell: for the script what is put into the cell,
// else a page.
func (s *Server) flame(w http.ResponseWriter, r *http.Request) {
	id, _ := strconv.ParseInt(r.URL.Query().Get("id"), 10, 64)
	e := s.book.profiled(id)
	if e == nil {
		http.Error(w, fmt.Sprintf("There is no profile %d any more.", id), http.StatusNotFound)
		return
	}
	name := "flame-page"
	if r.URL.Query().Has("part") {
		name = "flame"
	}
	v := flameOf(e.Profile)
	v.Title, v.Code = s.side.title(), line(e.Title)
	show(w, name, v)
}

func flameOf(p *transcript.Profile) flameView {
	v := flameView{Says: profileSays(p)}
	all := max(p.Root.Samples, 1)
	depth := depthOf(&p.Root)
	v.Height = depth * flameRow
	totals, kinds := map[string]int64{}, map[string]string{}
	above := map[string]bool{} // on the stack, which counts once
	var draw func(n *transcript.Sampled, from int64, level int)
	draw = func(n *transcript.Sampled, from int64, level int) {
		name := line(n.Function)
		v.Boxes = append(v.Boxes, flameBox{
			Name: name, Kind: flameKind(n.Kind), X: percent(from, all), Width: percent(n.Samples, all), Y: (depth - 1 - level) * flameRow,
			Says: fmt.Sprintf("%s: %d of %d samples, %s", name, n.Samples, all, percent(n.Samples, all)),
		})
		first := !above[name] && level > 0
		if first {
			totals[name] += n.Samples
			kinds[name], above[name] = flameKind(n.Kind), true
		}
		for i := range n.Calls {
			draw(&n.Calls[i], from, level+1)
			from += n.Calls[i].Samples
		}
		if first {
			delete(above, name)
		}
	}
	draw(&p.Root, 0, 0)
	for name, samples := range totals {
		v.Totals = append(v.Totals, flameTotal{name, percent(samples, all), kinds[name]})
	}
	slices.SortFunc(v.Totals, func(a, b flameTotal) int {
		return cmp.Or(slices.Index(flameKinds, a.Kind)-slices.Index(flameKinds, b.Kind), cmp.Compare(totals[b.Name], totals[a.Name]), cmp.Compare(a.Name, b.Name))
	})
	v.Totals = v.Totals[:min(len(v.Totals), mostTotal)]
	return v
}

func depthOf(n *transcript.Sampled) int {
	most := 0
	for i := range n.Calls {
		most = max(most, depthOf(&n.Calls[i]))
	}
	return most + 1
}

func percent(part, all int64) string {
	return strconv.FormatFloat(100*float64(part)/float64(all), 'f', 1, 64) + "%"
}
