package lisp

import (
	"io"
	"log/slog"
	"time"

	"swank-mcp/swank/lisp/attach"
	"swank-mcp/swank/lisp/launch"
)

// Config says how an [Image] is found, started and bounded. The zero value
// launches the sbcl of PATH with the defaults named at each field.
type Config struct {
	Launch     launch.Config // the image that is launched, where Attach is zero
	Attach     attach.Target // image to attach to; zero launches one
	Echo       bool          // show evaluations in the REPL of those who work in that image
	NoRecovery bool          // do not bring a session back after its image has died
	once       bool          // the image is for one call: when it ends, none takes its place

	SuspendLimit time.Duration // how long an evaluation may wait in the debugger; 0 is 10 minutes

	Log   *slog.Logger // nil discards
	Trace io.Writer    // readable trace of every Swank message; nil is off
}

// DefaultSuspendLimit is that of [Config].
const DefaultSuspendLimit = 10 * time.Minute
