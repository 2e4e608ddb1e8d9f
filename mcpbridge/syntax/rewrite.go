package syntax

import (
	"context"
	"strings"
)

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
// indented. Lines that begin inside of a string do not count.
func indent(form string) int {
	least := 0
	eachLine(form, func(i int, line string, inside bool) {
		if n := len(line) - len(strings.TrimLeft(line, " ")); i > 0 && !inside && n > 0 && (least == 0 || n < least) {
			least = n
		}
	})
	return least
}

// eachLine calls f with each line of a form, with its number from 0; inside says that the line begins
// inside of a string or of a symbol between bars.
func eachLine(form string, f func(i int, line string, inside bool)) {
	l := newLexer(form, workOn(context.Background(), form))
	t := l.next()
	for i, start := 0, 0; ; i++ {
		for t.end < start && t.kind != none {
			t = l.next()
		}
		line, _, more := strings.Cut(form[start:], "\n")
		f(i, line, t.start < start && start <= t.end)
		if start += len(line) + 1; !more {
			return
		}
	}
}

// moved returns form with its further lines moved to the right, or to the left if by is
// less than 0 as far as there are blanks.
func moved(form string, by int) string {
	if by == 0 {
		return form
	}
	var b strings.Builder
	eachLine(form, func(i int, line string, inside bool) {
		if i > 0 {
			b.WriteByte('\n')
		}
		switch blanks := len(line) - len(strings.TrimLeft(line, " ")); {
		case i == 0 || inside || strings.TrimSpace(line) == "":
		case by > 0:
			b.WriteString(strings.Repeat(" ", by))
		default:
			line = line[min(-by, blanks):]
		}
		b.WriteString(line)
	})
	return b.String()
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
