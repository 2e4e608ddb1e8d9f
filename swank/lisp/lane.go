package lisp

import "swank-mcp/swank"

// A lane is the Lisp thread in which a session's evaluations run.
type lane struct {
	lv      *live
	session string
	thread  swank.ThreadID
}

// forget makes the session's next evaluation start a new thread. It reports
// whether l was the session's lane until now.
func (l *lane) forget() bool {
	l.lv.mu.Lock()
	defer l.lv.mu.Unlock()
	if l.lv.lanes[l.session] != l {
		return false
	}
	delete(l.lv.lanes, l.session)
	return true
}
