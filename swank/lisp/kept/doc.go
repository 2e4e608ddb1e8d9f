// Package kept owns the file in which a session is kept for the next server:
// when it is written, whose it is, and what of the server before it is left. The
// text in it is package journal's.
//
// Package lisp writes it as the session grows; mcpbridge tells what was left and
// reads it. Begin reading with [Open] and [File.Keep].
package kept
