package syntax

import (
	"strings"
	"unicode/utf8"
)

// place is an offset in a text with its line and column.
type place struct {
	at int
	Pos
}

func beginning() place { return place{0, Pos{1, 1}} }

// to goes on to the offset at.
func (p *place) to(text string, at int) {
	part := text[p.at:at]
	if n := strings.Count(part, "\n"); n > 0 {
		p.Line += n
		p.Column = 1
		part = part[strings.LastIndexByte(part, '\n')+1:]
	}
	p.Column += utf8.RuneCountInString(part)
	p.at = at
}

// posOf is the place of an offset.
func posOf(text string, at int) Pos {
	p := beginning()
	p.to(text, at)
	return p.Pos
}

// editorColumn is the column of the offset at as an editor shows it, with a tab stop every
// eight; col is that of the offset from.
func editorColumn(text string, from, col, at int) int {
	for ; from < at; from++ {
		switch c := text[from]; {
		case c == '\n':
			col = 1
		case c == '\t':
			col += 8 - (col-1)%8
		case utf8.RuneStart(c):
			col++
		}
	}
	return col
}
