package lisp

import (
	"io"
	"log/slog"
	"time"

	"swank-mcp/internal/files"
	"swank-mcp/swank/lisp/attach"
	"swank-mcp/swank/lisp/kept"
	"swank-mcp/swank/lisp/launch"
)

// Config says how an [Image] is found, started and bounded. The zero value
// launches the sbcl of PATH with the defaults named at each field.
type Config struct {
	Launch     launch.Config // the image that is launched, where Attach is zero
	Attach     attach.Target // image to attach to; zero launches one
	Echo       bool          // show evaluations in the REPL of those who work in that image
	NoRecovery bool          // do not bring a session back after its image has died

	NoCheckpoints bool // take no copies of a launched image
	CheckpointMB  int  // MiB of memory that they may take beside the image; 0 is 1024, or a tenth of Memory if that is less

	Memory int64 // that images may have in all, in bytes; 0 is not known

	CopyShare *CopyShare // bounds the time for those that are taken by themselves; nil does not

	Trees    *files.Trees // the directories in which code may write: that of the project is opened there; nil: none is kept open
	Cores    *kept.Cores  // checkpoints on the disk; nil has none
	Autosave bool         // save the image there at the end, and when it was idle for a while
	Resume   string       // name of the one that the first image goes on from, or kept.Last; "" is none

	progress *attach.Progress                  // of attaching; nil for no image in particular
	told     func(inst *instance, text string) // what an image tells by itself, nil the one that runs; see people.go

	// Ahead hands over an image of [StartAhead] with the same Launch, or nil if there
	// is none. It is asked each time that an image is started anew; nil is never.
	Ahead func() *Ahead

	once   bool   // the image is for one call: when it ends, none takes its place
	parent *Image // for a call of which it is, or nil; people are asked there

	SuspendLimit time.Duration // how long an evaluation may wait in the debugger; 0 is 10 minutes

	Log   *slog.Logger // nil discards
	Trace io.Writer    // readable trace of every Swank message; nil is off
}

// DefaultSuspendLimit is that of [Config].
const DefaultSuspendLimit = 10 * time.Minute

// checkpointMemory is the limit that holds, in bytes.
func (c *Config) checkpointMemory() int64 {
	if c.CheckpointMB > 0 {
		return int64(c.CheckpointMB) << 20
	}
	limit := int64(1 << 30)
	if tenth := c.Memory / 10; tenth > 0 {
		limit = min(limit, tenth)
	}
	return limit
}
