package tools

import (
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"swank-mcp/mcpbridge/render"
)

// What is compared line by line, at most: some 200 bytes are held for each line.
const (
	maxDiffBytes = 512 << 10
	maxDiffLines = 20_000
)

// diffText is the unified diff of two texts, called as they are named. Of long ones it
// compares what stands between the first and the last difference; where that is long, too,
// it says which lines these are.
func diffText(oldName, before, newName, after string) string {
	above := 0
	if long(before) || long(after) {
		var head string
		head, before, after = differing(before, after)
		above = strings.Count(head, "\n")
	}
	if long(before) || long(after) {
		return render.Safe(fmt.Sprintf("--- %s\n+++ %s\n; %s became %s. That is too much for a diff.",
			oldName, newName, linesBelow(above, before), linesBelow(above, after)))
	}
	text := string(diff.Diff(oldName, []byte(before), newName, []byte(after)))
	_, text, _ = strings.Cut(text, "\n") // the command line of a diff
	return render.Safe(strings.TrimSuffix(movedHunks(text, above), "\n"))
}

func long(text string) bool {
	return len(text) > maxDiffBytes || strings.Count(text, "\n") > maxDiffLines
}

// linesBelow names the lines of text, above which there are so many others.
func linesBelow(above int, text string) string {
	last := above + strings.Count(text, "\n")
	if !strings.HasSuffix(text, "\n") {
		last++
	}
	return fmt.Sprintf("lines %d to %d", above+1, last)
}

// diffContext is how many lines a diff shows above and below a difference.
const diffContext = 3

// differing returns the lines of two texts between those that are the same at their
// beginnings and ends, with some of these around them, and what stands above.
func differing(a, b string) (above, x, y string) {
	same := 0
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	from := same
	for range diffContext + 1 {
		from = strings.LastIndexByte(a[:max(from, 1)-1], '\n') + 1
	}
	left := min(len(a), len(b)) - same
	end := 0
	for end < left && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	for range diffContext + 1 {
		n := strings.IndexByte(a[len(a)-end:], '\n')
		if n < 0 {
			end = 0
			break
		}
		end -= n + 1
	}
	return a[:from], a[from : len(a)-end], b[from : len(b)-end]
}

// movedHunks returns a diff with its hunks so many lines further down.
func movedHunks(text string, by int) string {
	if by == 0 {
		return text
	}
	var all strings.Builder
	for line := range strings.Lines(text) {
		var x, n, y, m int
		if _, err := fmt.Sscanf(line, "@@ -%d,%d +%d,%d @@", &x, &n, &y, &m); err == nil {
			line = fmt.Sprintf("@@ -%d,%d +%d,%d @@\n", x+by, n, y+by, m)
		}
		all.WriteString(line)
	}
	return all.String()
}
