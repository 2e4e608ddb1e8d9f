// Package helper owns how we talk with the helper in the image, the Lisp package
// SWANK-MCP, whose sources stand beside it: the text of a call of one of its
// functions and the decoding of what it answers. It knows none of the functions.
//
// Packages lisp and attach use it. Begin reading with [Call].
package helper
