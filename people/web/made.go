package web

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"swank-mcp/people/control"
)

// mostLines is how many definitions of a kind are listed.
const mostLines = 300

type contentsView struct {
	Session  string
	Sections []sectionView
	Packages []packageView
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
func contentsOf(c *control.Contents) (v contentsView) {
	if c == nil {
		return v
	}
	v.Session = line(c.Session)
	for _, s := range c.Sections {
		one := sectionView{Name: line(strings.ReplaceAll(s.Name, "-", " ")), Count: len(s.Lines)}
		for _, l := range s.Lines[:min(len(s.Lines), mostLines)] {
			one.Lines = append(one.Lines, line(l))
		}
		one.More = len(s.Lines) - len(one.Lines)
		v.Sections = append(v.Sections, one)
	}
	for _, p := range c.Packages {
		one := packageView{Name: line(p.Name), Exported: p.Exported}
		if p.Current {
			one.Says = "current"
		} else if p.Own {
			one.Says = "made here"
		}
		v.Packages = append(v.Packages, one)
	}
	return v
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
func timelineOf(c *control.Contents) (v timelineView) {
	if c == nil {
		return v
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
