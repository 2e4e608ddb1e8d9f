// Package journal owns the source of what a session has defined: which entries
// there are, in which order they are to be evaluated again, the text of a saved
// session, and the words for what is kept and what is lost. It does no input or
// output, and knows nothing of images and connections: package lisp tells it
// what the image has answered, evaluates its entries in a new one, and keeps its
// text in files.
//
// Begin reading with [Journal] and [Journal.Add] (journal.go); text.go writes a
// session down, superseded.go what is still an entry's own.
package journal
