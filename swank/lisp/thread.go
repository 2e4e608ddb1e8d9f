package lisp

import "swank-mcp/swank"

// A sessionThread is the Lisp thread in which a session's evaluations run.
type sessionThread struct {
	inst    *instance
	session string
	id      swank.ThreadID
	by      string // client and tool that the image knows of it
}

// forget makes the session's next evaluation start a new thread. It reports
// whether it was the session's until now.
func (t *sessionThread) forget() bool {
	t.inst.mu.Lock()
	defer t.inst.mu.Unlock()
	if t.inst.threads[t.session] != t {
		return false
	}
	delete(t.inst.threads, t.session)
	return true
}
