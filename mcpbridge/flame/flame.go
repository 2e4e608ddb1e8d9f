// Package flame draws the stacks of a profile as a flame graph: an SVG file that needs
// nothing else. Package tools uses it. Begin with [SVG].
package flame

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"

	"swank-mcp/swank/lisp"
)

const (
	width   = 1200.0 // of the picture, in pixels
	row     = 17     // height of a function
	header  = 40     // above the graph
	letter  = 6.7    // width of a character
	thinned = 0.3    // functions that are narrower are left out
)

// colors are those of the kinds of functions.
var colors = map[lisp.FrameKind]string{
	lisp.ProjectFrame: "#f58a42", lisp.ProgramFrame: "#f2c75c", lisp.LispFrame: "#9fc5d8", lisp.InternalFrame: "#d9dde0",
}

// node is a function with those above it on the stacks that have all below it.
type node struct {
	name    string
	kind    lisp.FrameKind
	samples int64
	above   []*node
}

// grow counts a stack, outermost first, in the tree of n.
func (n *node) grow(p *lisp.Profile, frames []int, samples int64) {
	n.samples += samples
	if len(frames) == 0 {
		return
	}
	f := p.Frames[frames[0]]
	i := slices.IndexFunc(n.above, func(a *node) bool { return a.name == f.Function })
	if i < 0 {
		i = len(n.above)
		n.above = append(n.above, &node{name: f.Function, kind: f.Kind})
	}
	n.above[i].grow(p, frames[1:], samples)
}

func (n *node) height() int {
	most := 0
	for _, a := range n.above {
		most = max(most, a.height())
	}
	return most + 1
}

// SVG is the flame graph of p, the outermost function at the bottom. Each function is as
// wide as its part of the samples, and tells its name and numbers when the pointer is on
// it. Without stacks it is nil.
func SVG(title string, p *lisp.Profile) []byte {
	root := node{name: "all", kind: lisp.InternalFrame}
	for _, s := range p.Stacks {
		root.grow(p, s.Frames, s.Samples)
	}
	if root.samples == 0 {
		return nil
	}
	var b bytes.Buffer
	height := header + root.height()*row + 10
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%d" viewBox="0 0 %[1]g %[2]d" font-family="monospace" font-size="11">
<rect width="100%%" height="100%%" fill="#ffffff"/>
<text x="6" y="16" font-size="13">%s</text>
`, width, height, escaped(clipped(title, 150)))
	for i, legend := range []struct {
		kind lisp.FrameKind
		text string
	}{{lisp.ProjectFrame, "the project"}, {lisp.ProgramFrame, "other programs"}, {lisp.LispFrame, "the Lisp"}, {lisp.InternalFrame, "its inside"}} {
		fmt.Fprintf(&b, `<rect x="%d" y="23" width="10" height="10" fill="%s"/><text x="%d" y="32">%s</text>`+"\n",
			6+i*130, colors[legend.kind], 20+i*130, legend.text)
	}
	draw(&b, &root, root.samples, 0, height-10-row)
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// draw draws n, whose left edge is at x, and what is above it.
func draw(b *bytes.Buffer, n *node, all int64, x float64, y int) {
	w := width * float64(n.samples) / float64(all)
	if w < thinned {
		return
	}
	fmt.Fprintf(b, `<g><title>%s: %d of %d samples, %.1f %%</title><rect x="%.2f" y="%d" width="%.2f" height="%d" fill="%s" stroke="#ffffff" stroke-width="0.5"/>`,
		escaped(n.name), n.samples, all, 100*float64(n.samples)/float64(all), x, y, w, row-1, colors[n.kind])
	if room := int(w/letter) - 1; room >= 3 {
		fmt.Fprintf(b, `<text x="%.2f" y="%d">%s</text>`, x+3, y+12, escaped(clipped(n.name, room)))
	}
	b.WriteString("</g>\n")
	slices.SortStableFunc(n.above, func(a, b *node) int { return cmp.Compare(b.samples, a.samples) })
	for _, a := range n.above {
		draw(b, a, all, x, y-row)
		x += width * float64(a.samples) / float64(all)
	}
}

func clipped(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

func escaped(s string) string {
	var b strings.Builder
	xml.EscapeText(&b, []byte(s)) // a Builder takes everything
	return b.String()
}
