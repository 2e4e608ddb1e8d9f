package sexp

// List is encoded as a list of its elements.
type List []any

// Raw is the bytes of exactly one datum, without surrounding white space. A
// decoded Raw aliases the decoder's input. When encoded it is checked, see
// [Append].
type Raw []byte

// Appender is implemented by types that encode themselves. AppendSexp appends
// exactly one datum to its argument and returns the result; what it appends is
// checked like a [Raw].
type Appender interface {
	AppendSexp([]byte) ([]byte, error)
}

// kind is the class of a datum, as far as its first bytes and, for a number,
// its spelling tell.
type kind byte

const (
	kindList kind = iota // (…) or #(…)
	kindQuote
	kindString
	kindSymbol
	kindNumber
	kindOpaque // characters, #<…> and the rest of what only Raw takes
)

func (k kind) String() string {
	return [...]string{"list", "quote", "string", "symbol", "number", "opaque object"}[k]
}
