// Package flame draws the stacks of a profile as a flame graph: an SVG file that needs
// nothing else. Package tools uses it. Begin with [SVG].
package flame

import (
	"bytes"
	"encoding/xml"
	"fmt"
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

// height is how many functions stand on each other at n.
func height(n *lisp.ProfileNode) int {
	most := 0
	for _, a := range n.Above {
		most = max(most, height(a))
	}
	return most + 1
}

// SVG is the flame graph of p, the outermost function at the bottom. Each function is as
// wide as its part of the samples, and tells its name and numbers when the pointer is on
// it. Without stacks it is nil.
func SVG(title string, p *lisp.Profile) []byte {
	root := p.Tree()
	if root == nil {
		return nil
	}
	var b bytes.Buffer
	height := header + height(root)*row + 10
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
	draw(&b, root, root.Samples, 0, height-10-row)
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// draw draws n, whose left edge is at x, and what is above it.
func draw(b *bytes.Buffer, n *lisp.ProfileNode, all int64, x float64, y int) {
	w := width * float64(n.Samples) / float64(all)
	if w < thinned {
		return
	}
	fmt.Fprintf(b, `<g><title>%s: %d of %d samples, %.1f %%</title><rect x="%.2f" y="%d" width="%.2f" height="%d" fill="%s" stroke="#ffffff" stroke-width="0.5"/>`,
		escaped(n.Function), n.Samples, all, 100*float64(n.Samples)/float64(all), x, y, w, row-1, colors[n.Kind])
	if room := int(w/letter) - 1; room >= 3 {
		fmt.Fprintf(b, `<text x="%.2f" y="%d">%s</text>`, x+3, y+12, escaped(clipped(n.Function, room)))
	}
	b.WriteString("</g>\n")
	for _, a := range n.Above {
		draw(b, a, all, x, y-row)
		x += width * float64(a.Samples) / float64(all)
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
