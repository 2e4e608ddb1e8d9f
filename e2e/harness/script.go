//go:build unix

package harness

import (
	"flag"
)

// Update says that golden files are written.
var Update = flag.Bool("update", false, "rewrite what the scripts compare replies with")
