// Package hub has the sessions of many clients, each with a Lisp image of its own.
//
// It owns which sessions there are and whose they are (hub.go, making.go), which of them have an
// image now (wake.go), whose image makes room for whose (place.go, owner.go, and
// starts.go for their turns to start), what becomes of those that nobody uses (sweep.go), which of
// them make room for others (room.go), and the limits of all that (limit.go): also of the
// processor's time (cpu.go) and of the disk (disk.go). It tells all of one session (detail.go). A
// principal sees sessions of its own only: the same name of another principal's is another session.
// It knows no HTTP. Package serve uses it.
//
// Begin with [Hub.Named].
package hub
