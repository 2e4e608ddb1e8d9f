package lisp

import (
	"time"

	"swank-mcp/swank/lisp/project"
)

// Status is what is known of an image at one moment. Asking for it never
// starts one.
type Status struct {
	State          string // "not started", "starting", "running", "replacing", "ended", or of an image to attach to "not connected"
	Launched       bool   // we started it; else it is attached
	PID            int
	Implementation string // "SBCL 2.2.9.debian"
	SwankVersion   string // "2.27"
	Address        string // "unix:/…/swank.sock"
	FromCore       bool   // started from the cached core
	Sandbox        string // what confines a launched image, or ""
	Uptime         time.Duration
	Restarts       int // images started after the first

	Project *project.Project // what the sessions work for

	Package     string   // package of the asked session
	Running     *Running // its running evaluation, or nil
	Paused      bool     // by a person: calls that begin wait
	Waiting     int      // calls of the session that wait for their turn
	Suspended   []Suspended
	Checkpoints []Checkpoint   // oldest first
	Obstacle    *ObstacleError // why the last one could not be taken, or nil
	Jobs        []Job          // in the background, and those that have ended, oldest first
	Resumes     bool           // no image runs, and the next one goes on from a checkpoint on the disk
	Definitions map[string]int
	Systems     []string // that the session has loaded, without those which they needed and which are not the project's
	Lost        []string // definitions that have no source, and why: a new image will not have them
	Threads     []Thread
	HeapUsed    int64 // bytes of dynamic space in use
	HeapLimit   int64 // bytes of dynamic space
	Background  Text  // what reached fds 1 and 2 since it was last shown
	Notes       []string
}

// Running is an evaluation in progress.
type Running struct {
	Code   string // its beginning, one line
	Age    time.Duration
	Waits  string   // the lock that it waits for, and who holds it; "" if none
	Frames []string // where it is now, user frames, innermost first
}

// Thread is a thread of the image.
type Thread struct {
	_      struct{} `sexp:",list"`
	Name   string
	Status string // "running", "session default", …
}
