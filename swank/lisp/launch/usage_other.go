//go:build !linux

package launch

import "time"

func family(pid int) []int { return []int{pid} }

// CPU is not known here.
func (p *Process) CPU() time.Duration { return 0 }

// OwnCPU is not known here.
func (p *Process) OwnCPU() time.Duration { return 0 }

// Runs is not known here.
func (p *Process) Runs() bool { return false }

// Memory is not known here.
func (p *Process) Memory() int64 { return 0 }
