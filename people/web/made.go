package web

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"swank-mcp/people/control"
)

// mostLines is how many definitions of a kind are listed.
const mostLines = 300

type contentsView struct {
	Sessions []sessionContents
	Packages []packageView
}

// sessionContents is what one session has defined.
type sessionContents struct {
	Name     string
	Sections []sectionView
}

type sectionView struct {
	Name  string
	Count int
	Lines []string
	More  int
}

type packageView struct {
	Name     string
	Says     string
	Exported int
}

// contentsOf is what the template of definitions and packages is filled with.
func contentsOf(all []*control.Contents) (v contentsView) {
	packages, current, own := map[string]int{}, map[string][]string{}, map[string][]string{}
	for _, c := range all {
		one := sessionContents{Name: line(c.Session)}
		for _, s := range c.Sections {
			section := sectionView{Name: line(strings.ReplaceAll(s.Name, "-", " ")), Count: len(s.Lines)}
			for _, l := range s.Lines[:min(len(s.Lines), mostLines)] {
				section.Lines = append(section.Lines, line(l))
			}
			section.More = len(s.Lines) - len(section.Lines)
			one.Sections = append(one.Sections, section)
		}
		if len(one.Sections) > 0 {
			v.Sessions = append(v.Sessions, one)
		}
		for _, p := range c.Packages {
			packages[p.Name] = p.Exported
			if p.Current {
				current[p.Name] = append(current[p.Name], c.Session)
			}
			if p.Own {
				own[p.Name] = append(own[p.Name], c.Session)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(packages)) {
		one := packageView{Name: line(name), Exported: packages[name]}
		var says []string
		if in := current[name]; len(in) > 0 {
			says = append(says, "current"+where("", " in ", in, len(all)))
		}
		if by := own[name]; len(by) > 0 {
			says = append(says, "made"+where(" here", " by ", by, len(all)))
		}
		one.Says = strings.Join(says, ", ")
		v.Packages = append(v.Packages, one)
	}
	return v
}

// where names sessions, if there are others.
func where(only, word string, names []string, all int) string {
	if all == 1 {
		return only
	}
	return word + line(strings.Join(names, ", "))
}

type timelineView struct {
	Session     string
	Checkpoints []checkpointView
	Obstacle    string
}

type checkpointView struct {
	Number      int
	Name        string
	Clock       string
	Exact       string
	After       string
	Since       string
	Now, Undone bool
}

// timelineOf is what the template of the checkpoints is filled with: newest first.
func timelineOf(all []*control.Contents) (v timelineView) {
	if len(all) == 0 {
		return v
	}
	c := all[0] // they are of the image
	for _, one := range all[1:] {
		if len(one.Checkpoints) > len(c.Checkpoints) { // it was asked later
			c = one
		}
	}
	v.Session, v.Obstacle = c.Session, line(c.Obstacle)
	for _, k := range slices.Backward(c.Checkpoints) {
		one := checkpointView{Number: k.Number, Name: line(k.Name), Clock: k.Taken.Local().Format(time.TimeOnly), Exact: k.Taken.Format(time.RFC3339Nano),
			After: line(k.After), Now: k.Since == 0 && !k.Undone, Undone: k.Undone}
		switch {
		case k.Undone:
			one.Since = "undone since"
		case k.Since > 0:
			one.Since = fmt.Sprintf("%d back", k.Since)
		}
		v.Checkpoints = append(v.Checkpoints, one)
	}
	return v
}

type plotView struct {
	Name   string
	Says   string // what a person reads who does not see it
	Points string // of a line in a box of 240 by 48
	Last   string
}

// plotsOf are the plots of which there is more than a point.
func plotsOf(heap, took []float64) (plots []plotView) {
	if len(heap) > 1 {
		low, high := slices.Min(heap), slices.Max(heap)
		now := heap[len(heap)-1]
		plots = append(plots, plotView{Name: "Heap in use", Last: fmt.Sprintf("%.0f MB", now), Points: points(heap, 0, high*1.1),
			Says: fmt.Sprintf("Heap in use, the last %d seconds: from %.0f to %.0f MB, now %.0f MB", len(heap), low, high, now)})
	}
	if len(took) > 1 {
		sorted := slices.Sorted(slices.Values(took))
		p50, high := sorted[len(sorted)/2], sorted[len(sorted)-1]
		plots = append(plots, plotView{Name: "Time of evaluations", Last: "half below " + duration(p50), Points: points(took, 0, high*1.1),
			Says: fmt.Sprintf("Time of the last %d evaluations: half below %s, the longest %s", len(took), duration(p50), duration(high))})
	}
	return plots
}

// points are those of a line through the values in a box of 240 by 48.
func points(values []float64, low, high float64) string {
	var b strings.Builder
	for i, v := range values {
		x := 240 * float64(i) / float64(len(values)-1)
		y := 47 - 46*(v-low)/max(high-low, 1e-9)
		b.WriteString(strconv.FormatFloat(x, 'f', 1, 64) + "," + strconv.FormatFloat(y, 'f', 1, 64) + " ")
	}
	return strings.TrimSpace(b.String())
}
