//go:build unix

package host

import (
	"os"
	"syscall"
)

// OwnGroup has a child lead a process group of its own.
func OwnGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// KillGroup kills the group that leader leads. One that has ended has nothing left
// to kill.
func KillGroup(leader *os.Process) { _ = syscall.Kill(-leader.Pid, syscall.SIGKILL) }
