package host

import "sync"

var owned sync.Map // pid → true

// Own notes that the caller waits for the child pid itself, until it calls disown. Others,
// who see to the children that nobody waits for, leave it alone.
func Own(pid int) (disown func()) {
	owned.Store(pid, true)
	return func() { owned.Delete(pid) }
}

// Owned reports whether somebody waits for the child pid.
func Owned(pid int) bool {
	_, ok := owned.Load(pid)
	return ok
}
