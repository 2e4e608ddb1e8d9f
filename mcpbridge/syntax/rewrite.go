package syntax

import "strings"

// Replace returns text with form in place of the one at d. form stood in column
// of its own text, from 1; its further lines are moved with its first one, but for those
// that begin inside of a string, and get the ends of line that text has.
func Replace(text string, d Extent, form string, column int) string {
	old := text[d.Start:d.End]
	if unixLines(old) == unixLines(form) {
		return text
	}
	return text[:d.Start] + likeLines(text, moved(form, shift(old, d.Column, form, column))) + text[d.End:]
}

// Append returns text with form as its last one, set off by an empty line.
func Append(text, form string, column int) string {
	before := strings.TrimRight(text, " \t\r\n")
	end := text[len(before):]
	switch lines := strings.Count(end, "\n"); {
	case before == "":
	case lines == 0:
		end += "\n\n"
	case lines == 1:
		end += "\n"
	}
	return before + likeLines(text, end+moved(form, 1-column)+"\n")
}

// shift is by how many columns the lines of form move when it takes the place of old:
// as its first line does, unless they are indented as those of old already.
func shift(old string, at int, form string, column int) int {
	if left := indent(old); left > 0 && left == indent(form) {
		return 0
	}
	return at - column
}

// indent is the least indentation of the lines of a form but its first one, 0 if none is
// indented.
func indent(form string) int {
	least := 0
	for i, line := range codeLines(form) {
		if n := len(line) - len(strings.TrimLeft(line, " ")); i > 0 && n > 0 && (least == 0 || n < least) {
			least = n
		}
	}
	return least
}

// codeLines are the lines of a form; one that begins inside of a string is "".
func codeLines(form string) []string {
	lines := strings.Split(form, "\n")
	for i := range insideAtoms(form) {
		lines[i] = ""
	}
	return lines
}

// insideAtoms are the numbers, from 0, of the lines that begin inside of a string or of a
// symbol between bars.
func insideAtoms(form string) map[int]bool {
	inside := make(map[int]bool)
	ts, _ := tokens(form)
	for _, t := range ts {
		for i := range strings.Count(form[t.start:t.end], "\n") {
			inside[t.line+i] = true // t.line counts from 1
		}
	}
	return inside
}

// moved returns form with its further lines moved to the right, or to the left if by is
// less than 0 as far as there are blanks.
func moved(form string, by int) string {
	if by == 0 {
		return form
	}
	inside := insideAtoms(form)
	lines := strings.Split(form, "\n")
	for i, line := range lines {
		switch blanks := len(line) - len(strings.TrimLeft(line, " ")); {
		case i == 0 || inside[i] || strings.TrimSpace(line) == "":
		case by > 0:
			lines[i] = strings.Repeat(" ", by) + line
		default:
			lines[i] = line[min(-by, blanks):]
		}
	}
	return strings.Join(lines, "\n")
}

func unixLines(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// likeLines returns form with the ends of line of text.
func likeLines(text, form string) string {
	form = unixLines(form)
	if n := strings.Count(text, "\n"); n > 0 && n == strings.Count(text, "\r\n") {
		return strings.ReplaceAll(form, "\n", "\r\n")
	}
	return form
}
