package launch

// Disk are the directories in which the image writes and no other one does, its own and, in
// a sandbox, the one for what it compiles.
func (p *Process) Disk() []string {
	if p.wrapped != nil {
		return append([]string{p.runDir}, p.wrapped.Disk...)
	}
	return []string{p.runDir}
}
