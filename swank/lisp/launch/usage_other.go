//go:build !linux

package launch

import "time"

func family(pid int) []int { return []int{pid} }

// CPU is not known here.
func (p *Process) CPU() time.Duration { return 0 }

// Memory is not known here.
func (p *Process) Memory() int64 { return 0 }
