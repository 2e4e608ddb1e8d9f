// Package launch owns the SBCL process of an image that is ours: it finds SBCL
// and Swank, keeps fasls and cores in a cache, starts the process and says when
// it serves, drains its pipes, ends it with all that belongs to it, and clears
// up after servers that were killed. [Doctor] tries all of that and tells what
// is missing.
//
// An image, its copies, and the images that are started from these are a line
// (line.go): they share the pipes of the first, one directory, and the socket
// at which each copy and each image come of one calls (calls.go). A copy
// ([Process.Copy]) is not started by us: its connection is by what we tell it
// to start an image ([Copy.Start]) and by what it learns that it is to end,
// also if we are killed.
//
// It knows nothing of the connection to Swank, of sessions, or of what is in
// the Lisp code that it is given. Package lisp starts images with it, and
// cmd/swank-mcp takes its defaults.
//
// Begin reading with [Start] (start.go); boot.go is our half of the protocol
// whose other half is boot.lisp, and process.go is what runs then. Then read
// line.go, calls.go and copies.go; their other half is the helper's folder
// checkpoint.
package launch
