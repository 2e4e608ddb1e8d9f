package render

import (
	"strings"

	"swank-mcp/swank/lisp"
)

// Found is the text of a look-up: title, sections and notes. The text in nothing
// stands for the sections where there are none.
func Found(f *lisp.Finding, nothing string) string {
	var parts []string
	if f.Title != "" {
		parts = append(parts, Safe(f.Title))
	}
	for _, s := range f.Sections {
		lines := Safe(strings.Join(s.Lines, "\n"))
		if s.Name != "" {
			lines = "[" + Safe(s.Name) + "]\n" + lines
		}
		parts = append(parts, lines)
	}
	if len(f.Sections) == 0 && nothing != "" {
		parts = append(parts, nothing)
	}
	if len(f.Notes) > 0 {
		parts = append(parts, "; "+Safe(strings.Join(f.Notes, "\n; ")))
	}
	return strings.Join(parts, "\n\n")
}

// Lines is a heading in brackets and lines under it.
func Lines(heading string, lines []string) string {
	return "[" + heading + "]\n" + Safe(strings.Join(lines, "\n"))
}
