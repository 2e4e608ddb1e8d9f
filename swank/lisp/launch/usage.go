package launch

import "errors"

// WriteNothing has the image, its copies and the programs that it has started make no file
// longer, or lets them do that again.
func (p *Process) WriteNothing(nothing bool) error {
	if p.wrapped == nil || p.wrapped.Files == nil {
		return errors.New("the image is in no sandbox that can limit its files")
	}
	return p.wrapped.Files(family(p.pid), nothing)
}

// Disk are the directories in which the image writes and no other one does, its own and, in
// a sandbox, the one for what it compiles.
func (p *Process) Disk() []string {
	if p.wrapped != nil {
		return append([]string{p.runDir}, p.wrapped.Disk...)
	}
	return []string{p.runDir}
}
