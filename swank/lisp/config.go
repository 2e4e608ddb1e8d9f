package lisp

import (
	"io"
	"log/slog"
	"time"
)

// Config says how an [Image] is found, started and bounded. The zero value
// launches the sbcl of PATH with the defaults named at each field.
type Config struct {
	SBCL       string // program, path or name; "" is "sbcl"
	SwankDir   string // directory of swank-loader.lisp; "" searches (see FindSwank)
	Attach     Target // image to attach to; zero launches one, to which most of what follows belongs
	Echo       bool   // show evaluations in the REPL of those who work in that image
	CacheDir   string // fasls and cores; "" is swank-mcp under the user's cache directory
	Dir        string // working directory of the image; "" inherits ours
	HeapMB     int    // dynamic space of the image in MiB; 0 is 4096
	StackMB    int    // control stack of each Lisp thread in MiB; 0 is 16
	NoCore     bool   // neither use nor build a cached core
	NoUserInit bool   // do not load ~/.sbclrc
	NoRecovery bool   // do not bring a session back after its image has died

	Kept *Kept // where the session is kept for the next server; nil keeps none

	SuspendLimit time.Duration // how long an evaluation may wait in the debugger; 0 is 10 minutes

	Log   *slog.Logger // nil discards
	Trace io.Writer    // readable trace of every Swank message; nil is off
}

// Defaults of [Config].
const (
	DefaultHeapMB  = 4096
	DefaultStackMB = 16

	DefaultSuspendLimit = 10 * time.Minute
)
