//go:build !linux && !darwin

package sandbox

import (
	"context"
	"os/exec"
	"runtime"

	"swank-mcp/swank/lisp/launch"
)

// able is what this system can do: nothing.
type able struct{}

func whatIsAble(context.Context) (able, error) { return able{}, nil }

func (able) newRoot() bool { return false }

func (able) by() string { return "" }

func (able) missing(Options) []string {
	return []string{"there is no sandbox on " + runtime.GOOS + ": images do what their user may"}
}

func (able) limitsMemory() bool { return false }

func (able) memory(uint64) string { return "" }

func (able) apply(*exec.Cmd, *policy) (*launch.Wrapped, error) { return nil, nil }

// Confine does nothing here: no process is started for it.
func Confine([]string) error { return nil }
