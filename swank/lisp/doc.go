// Package lisp owns one Common Lisp image and the sessions in it: it launches
// the image or attaches to it, loads the helper package into it, evaluates in its
// sessions, stops what does not end, and brings a session back when its image
// has died.
//
// What it needs for that and what knows nothing of an [Image] is in rooms below
// it: package launch starts SBCL, and package host has what launching and attaching
// share. Package mcpbridge and cmd/swank-mcp use it.
//
// Begin reading with [Image] (image.go) and [Image.Evaluate] (evaluate.go).
package lisp
