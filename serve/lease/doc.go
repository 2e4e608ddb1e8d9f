// Package lease has several servers share the sessions on a volume, so that each session has
// one of them at a time, with nothing between them but the volume.
//
// Each server writes a number that grows into a file of its own, some times in each term
// (beat.go). A server whose number stands still for a term is dead for the others, by their
// own clocks: no two clocks are ever compared. A server that could not write for two thirds
// of a term has lost all that it had, before others may think so. Where two servers have one
// kernel, it says at once that the other one has ended (kernel_linux.go).
//
// Who owns a session is said by the file with the highest number in the session's directory
// (take.go), which no code of the session can reach. A file comes into being with its contents
// and once, by link(2), so of several servers that want a session one gets it. Who wants a
// session that a living server has says so in that server's directory, and waits until it is
// given up.
//
// The volume must have link(2) and rename(2) that are atomic between the machines, and a file
// that is opened must be read as another machine has written it: NFS 4 with actimeo=0, CephFS,
// GFS2, OCFS2. Locks between machines are not needed. Package hub says when a session is given up.
//
// Begin with [Open] and [Server.Take].
package lease
