package sexp

// Char is a Lisp character. Lisp has characters for the surrogate code points,
// so a Char need not be a valid rune.
type Char rune

// Unreadable is the text of a datum that has no Go counterpart: #<…>, a
// structure, an array, a pathname, a complex number, a character with an
// unknown name. It decodes but is never encoded.
type Unreadable string

// List is a proper list or a vector. The empty list is nil in an any.
type List []any

// Pair is a cons whose cdr is not a proper list: (1 . 2). A longer dotted list
// is a chain through Cdr. It is encoded as a list where Cdr is a list or nil.
type Pair struct{ Car, Cdr any }

// Raw is the bytes of exactly one datum, without surrounding white space. A
// decoded Raw aliases the decoder's input. When encoded it is checked, see
// [Append].
type Raw []byte

// Unmarshaler is implemented by types that decode themselves. UnmarshalSexp
// gets a decoder whose input ends with the datum; it may leave some of it
// unread. The syntax of the datum has already been checked. It is also called
// for nil.
type Unmarshaler interface{ UnmarshalSexp(*Decoder) error }

// Appender is implemented by types that encode themselves. AppendSexp appends
// exactly one datum to its argument and returns the result; what it appends is
// checked like a [Raw].
type Appender interface {
	AppendSexp([]byte) ([]byte, error)
}

// Kind is the class of the next token, as far as its first bytes and, for a
// number, its spelling tell.
type Kind byte

// The kinds that [Decoder.Peek] returns.
const (
	KindInvalid Kind = iota // not the beginning of anything
	KindOpen                // ( or #(
	KindClose               // )
	KindDot                 // the dot of a dotted list
	KindQuote               // '
	KindString
	KindSymbol
	KindNumber
	KindChar
	KindOpaque // decodes to [Unreadable] (an infinity also to a float)
	KindEOF
)

var kindNames = [...]string{"invalid token", "list", "close parenthesis", "dot", "quote",
	"string", "symbol", "number", "character", "opaque object", "end of input"}

// String returns the name of k for messages.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown kind"
}
