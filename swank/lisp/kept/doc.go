// Package kept owns what is on the disk of a session for the next server: the file
// that keeps its definitions, and the checkpoints that are cores. It owns when they are
// written, whose they are, and what of the server before is left. The text of the
// definitions is package journal's; what is in a core is package launch's. Who evaluates code
// may be able to write there: what is no plain file is not read, and nothing is written through it.
//
// Package lisp writes them; mcpbridge tells what was left and reads it. Begin reading
// with [Open] and [File.Keep], or with [Cores.Save].
package kept
