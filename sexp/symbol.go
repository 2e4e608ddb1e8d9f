package sexp

// Symbol is a Lisp symbol in the spelling of the printer: lower case, package
// prefix and bars kept, as in ":ok", "nil", "swank:connection-info",
// "|Foo Bar|", "#:g12". Two Symbols that came from Lisp are the same symbol if
// and only if they are equal (uninterned ones excepted), so Go code can switch
// on them.
//
// A Symbol is encoded verbatim, after a check that the Lisp reader reads it as
// exactly one interned symbol; see [Append].
type Symbol string
