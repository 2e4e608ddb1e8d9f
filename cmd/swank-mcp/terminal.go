package main

import (
	"os"
	"strings"

	"swank-mcp/mcpbridge/render"
)

// safe is text of an image, a client or another server as a terminal may show it: escape
// sequences and what changes the direction of writing are shown, not done.
func safe(s string) string { return marks.Replace(render.Safe(s)) }

// marks are those that render.Safe lets pass; beside other text they may move it.
var marks = strings.NewReplacer("\u200e", `\u{200E}`, "\u200f", `\u{200F}`, "\u061c", `\u{61C}`, "\u2028", `\u{2028}`, "\u2029", `\u{2029}`)

// oneLine is safe for a table.
func oneLine(s string) string {
	return safe(strings.NewReplacer("\n", " ", "\t", " ").Replace(s))
}

// paint are the codes of colours of a terminal, or none.
type paint bool

const (
	faint  = "2"
	bold   = "1"
	red    = "31"
	green  = "32"
	yellow = "33"
	cyan   = "36"
)

// in is text, which is safe, in a colour.
func (p paint) in(colour, text string) string {
	if !p || text == "" || colour == "" {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

// colours reports whether to is a terminal that is to show colours.
func colours(to any) paint {
	f, ok := to.(*os.File)
	return paint(ok && isTerminal(f) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb")
}
