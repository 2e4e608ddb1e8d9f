// Package pool has what takes a while to start, started ahead: a Lisp image for a session that
// does not exist yet.
//
// It decides of which kind there is how much, fills up what was taken, and gives up what has
// no room. It knows no image and no session. Package cmd says what is started, and package
// serve/hub has it filled and bounds it.
//
// Begin with [Pool.Fill].
package pool
