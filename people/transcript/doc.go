// Package transcript owns what is noted of the work of one server: the newest entries in
// memory, for any number of readers, and files of them among the user's state, one for each
// session. It notes what package lisp tells as events, and what people have done.
//
// An entry is a line of JSON; [Entry] says what is in it. Nothing waits for a reader or for
// the disk: who is too slow misses entries and is told how many.
//
// Package people/control serves it. Begin reading with [Transcript] and [Transcript.Follow].
package transcript
