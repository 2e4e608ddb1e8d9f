package syntax

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Reading holds the parts of the reader's state that decide how a text is read.
type Reading struct {
	// Has reports whether *FEATURES* has a name; nil: #+ and #- leave out nothing.
	Has func(feature string) bool
	// Case is the case of the readtable for what stands at an offset; nil: Upcase.
	Case func(offset int) Case
}

func (r Reading) caseAt(offset int) Case {
	if r.Case == nil {
		return Upcase
	}
	return r.Case(offset)
}

// Case names the conversion of letters in symbols, as READTABLE-CASE does.
type Case string

// The four cases of a readtable. The standard's readtable has Upcase.
const (
	Upcase   Case = "upcase"
	Downcase Case = "downcase"
	Preserve Case = "preserve"
	Invert   Case = "invert"
)

// fold returns name with the letters that begin at the places plain as the reader has
// them.
func (c Case) fold(name string, plain []int) string {
	upper, lower := false, false
	for _, at := range plain {
		r, _ := utf8.DecodeRuneInString(name[at:])
		upper, lower = upper || unicode.IsUpper(r), lower || unicode.IsLower(r)
	}
	to := unicode.ToUpper
	switch {
	case c == Preserve, c == Invert && upper == lower:
		return name
	case c == Downcase, c == Invert && upper:
		to = unicode.ToLower
	}
	var b strings.Builder
	for at, r := range name {
		if len(plain) > 0 && plain[0] == at {
			plain, r = plain[1:], to(r)
		}
		b.WriteRune(r)
	}
	return b.String()
}
