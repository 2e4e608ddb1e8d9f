//go:build unix

package harness

import (
	"regexp"
)

// Addresses change when objects move.
var Addresses = regexp.MustCompile(`\{[0-9A-F]+\}`)
