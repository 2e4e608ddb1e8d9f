// Package lisp owns one Common Lisp image: it launches it or attaches to it,
// loads the helper package into it, and evaluates in its sessions.
package lisp
