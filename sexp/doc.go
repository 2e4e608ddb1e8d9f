// Package sexp translates between Go values and the s-expressions that a Swank
// server prints and reads. It is not a Lisp reader: it knows what the printer
// writes, and writes only what the reader reads as exactly the intended datum.
//
// Words: a datum is one complete s-expression, a token one lexical element,
// raw the bytes of a datum. Decoding leads from text to Go, encoding from Go
// to text. Input is always one whole frame in memory.
//
// # What is read
//
// Swank prints with PRIN1 under WITH-STANDARD-IO-SYNTAX, symbols in lower
// case, neither pretty nor circular nor readable:
//
//	datum  = list | vector | string | symbol | number | char | quote | opaque
//	list   = "(" datum* [datum "." datum] ")"      vector = "#(" datum* ")"
//	string = `"` any bytes, `\` before `"` and `\`, no other escapes `"`
//	symbol = token, with optional "pkg:", "pkg::", ":" or "#:", |bars| and \x
//	number = integer, ratio, float                 char   = #\x or #\Name
//	quote  = "'" datum
//	opaque = #<…> #C(…) #*01 #2A(…) #P"…" #S(…) #.datum
//
// Comments, backquote, #', #+, #x and the like never come and are errors. The
// end of #<…> is a guess, because a print method may write anything: the first
// ">" before white space, ")" or the end that leaves strings, parentheses and
// inner #<…> balanced, or if there is none, the first at all.
//
// # Mapping
//
//	Lisp               Go
//	nil, ()            the zero value (Raw has the datum itself)
//	other symbol       Symbol; true for bool
//	integer            signed integer kinds; overflow is an error
//	string             string kinds other than Symbol
//	list, vector       slice, struct
//	anything           Raw; a pointer to any of these
//
// Ratios, floats, characters, quotes and opaque data are skipped where no field
// asks for them, and otherwise decode to Raw only.
//
// A struct is a property list by default: a field tagged `sexp:"pid"` is the
// value of :pid. Of equal keys the first counts, unknown keys are skipped,
// missing keys leave zero. `sexp:"pid,omitzero"` leaves a zero value out when
// encoding, `sexp:"-"` excludes the field; an exported field without a tag is
// an error.
//
// A struct with a blank field
//
//	_ struct{} `sexp:",list"`
//
// is positional, and only decodes: exported fields take the elements in order, a
// missing tail is zero like &optional, extra elements are skipped. A last field
// tagged `sexp:",rest"`, a slice, takes the remainder. The atom after a dot
// counts as one more element.
//
// # What is written, and injection
//
// Swank reads our frames with READ-FROM-STRING while *READ-EVAL* is true, so
// "#.(…)" in a frame runs code. Therefore text from outside may only ever be a
// Go string: it becomes a Lisp string with `"` and `\` escaped and invalid
// UTF-8 replaced by U+FFFD, and nothing in it can end the string. A [Symbol]
// must be one plain name; a [Raw] and the output of an [Appender] must scan as
// exactly one datum of plain symbols, integers, ratios, strings, lists and vectors.
// Whatever fails this is refused with [ErrUnsafe]. (Several Swank functions
// READ their string arguments again; that is the caller's concern.)
//
// Integers are written as plain decimal digits: the reader's base is 10 under
// WITH-STANDARD-IO-SYNTAX.
package sexp
