// Package project finds what a directory of source has for ASDF: the definitions of the
// project's own systems, and those of the dependencies that Qlot or ocicl keep beside them.
//
// It reads directories and one list, and evaluates nothing. Package lisp tells the image
// what it has found, so that these systems are found before any installed one of the
// same name.
//
// Begin with [Find].
package project
