//go:build unix

package harness

import (
	"regexp"
	"strings"
)

// blanks at the end of a line cannot be seen on a page, and editors remove them.
var blanks = regexp.MustCompile(`(?m)[ \t]+$`)

// Seen returns what a reader of the page sees of a reply.
func Seen(text string) string { return strings.TrimRight(blanks.ReplaceAllString(text, ""), "\n") }

// Matches reports whether got is the shown text, which may leave out parts.
func Matches(shown, got string) bool { return Fits(Seen(shown), Seen(got)) }
