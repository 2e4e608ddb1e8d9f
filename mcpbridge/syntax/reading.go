package syntax

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
