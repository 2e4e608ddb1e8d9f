//go:build !unix

package host

import (
	"os"
	"syscall"
)

// OwnGroup does nothing: there are no process groups here.
func OwnGroup() *syscall.SysProcAttr { return nil }

// KillGroup kills leader alone.
func KillGroup(leader *os.Process) { _ = leader.Kill() }
