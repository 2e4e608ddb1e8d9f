// Package lisp owns one Common Lisp image and the sessions in it: it launches
// the image or attaches to it, loads the helper package into it, evaluates in its
// sessions, stops what does not end, and brings a session back when its image
// has died. Package mcpbridge and cmd/swank-mcp use it.
//
// What knows nothing of an [Image] is in rooms below, which it uses:
//
//   - launch: the SBCL process that is ours
//   - attach: our part in an image that a person runs
//   - journal: the source of what a session has defined
//   - restore: the plan by which that is brought back into a new image
//   - kept: the file in which that is kept for the next server
//   - helper: the text of calls of the helper's functions; beside it, the helper
//   - host: what launching and attaching have in common
//
// Begin reading with [Image] (image.go) and [Session.Evaluate] (evaluate.go).
package lisp
