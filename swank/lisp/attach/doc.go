// Package attach owns our part in a Lisp image that a person runs: the target
// that was named, the connection to it, through a command if need be, and the
// bringing of the helper into it. Where the image does not answer it looks from
// outside at the Lisp's process and at what stands on the way there.
//
// It knows nothing of sessions or evaluations, and is given the Lisp that it
// brings. Package lisp works in what [Connect] returns; cmd/swank-mcp reads targets
// with [ParseTarget].
//
// Begin reading with [Connect] (connect.go); target.go tells what is wrong where
// no Swank answers, process.go and way.go are the looking from outside.
package attach
