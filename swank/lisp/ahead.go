package lisp

import (
	"context"
	"sync/atomic"
	"time"

	"swank-mcp/swank"
)

// A lane is the Lisp thread in which a session's evaluations run, in the order
// in which they are sent to it.
type lane struct {
	lv      *live
	session string
	thread  swank.ThreadID
	stuck   atomic.Bool // the image was ended because one in this lane did not end
}

// current reports whether l is still the lane of its session.
func (l *lane) current() bool {
	l.lv.mu.Lock()
	defer l.lv.mu.Unlock()
	return l.lv.lanes[l.session] == l
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

// early sends an evaluation ahead of its turn. It belongs to the goroutine of
// the evaluation's caller.
type early struct {
	im *Image
	s  *session
	r  Request
	e  *evaluation // nil: not sent, or withdrawn
}

// send implements [sender].
func (a *early) send(l *lane) bool {
	if l.lv.over() || !l.current() || l.lv.single {
		return false
	}
	e := &evaluation{im: a.im, lane: l, lv: l.lv, s: a.s, r: a.r, token: a.im.token.Add(1), early: true}
	if e.send() != nil {
		return false // the holder of the turn will find out why
	}
	a.e = e
	return true
}

// withdrawLimit is how long the image may take to say whether an evaluation
// has begun.
const withdrawLimit = 2 * time.Second

// withdraw implements [sender]. If the image does not say in time, it may still
// withdraw the evaluation, which then ends as cancelled by nobody; see finish.
func (a *early) withdraw() bool {
	if a.e == nil {
		return true
	}
	ctx, cancel := context.WithTimeout(context.Background(), withdrawLimit)
	defer cancel()
	c := newHelperCall("WITHDRAW-EVALUATION").num(a.e.token)
	if a.s.name != defaultSession {
		c.str(a.s.name)
	}
	if answer, err := a.e.lv.ask(ctx, c); err != nil || answer != "t" {
		return false
	}
	a.e = nil
	return true
}

// turn returns the evaluation that was sent, when it has the turn. It returns
// nil if there is none that could have been evaluated.
func (a *early) turn() *evaluation {
	if a.e == nil {
		return nil
	}
	// Its thread has been given up, perhaps with it still in the queue there.
	if !a.e.lane.current() && !a.e.lv.over() && a.withdraw() {
		return nil
	}
	return a.e
}
