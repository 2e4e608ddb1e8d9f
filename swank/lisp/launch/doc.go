// Package launch owns the SBCL process of an image that is ours: it finds SBCL
// and Swank, keeps fasls and cores in a cache, starts the process and says when
// it serves, drains its pipes, ends it with all that belongs to it, and clears
// up after servers that were killed. [Doctor] tries all of that and tells what
// is missing.
//
// It knows nothing of the connection to Swank, of sessions, or of what is in
// the Lisp code that it is given. Package lisp starts images with it, and
// cmd/swank-mcp takes its defaults.
//
// Begin reading with [Start] (start.go); boot.go is our half of the protocol
// whose other half is boot.lisp, and process.go is what runs then.
package launch
