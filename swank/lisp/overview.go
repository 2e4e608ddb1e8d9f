package lisp

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Overview is what is known at one moment of an image and of all sessions in it.
type Overview struct {
	State          string // as in [Status]
	Launched       bool   // we started it; else it is attached
	PID            int    // 0 if none runs
	Implementation string // "SBCL 2.2.9.debian"
	Address        string // of Swank, "unix:/…/swank.sock"; or what there is to attach to
	Uptime         time.Duration
	Starts         int    // images that were started so far, or connections
	Paused         bool   // a person has calls that would evaluate wait
	Policy         Policy // what agents may do without the person's yes

	Questions   []Question        // that wait for the person's answer, oldest first
	Sessions    []SessionOverview // by name
	Checkpoints int
}

// SessionOverview is what is known of one session.
type SessionOverview struct {
	Name      string
	Running   *Running // what has the turn, or nil; Code and Age alone
	Waiting   int      // calls that wait for their turn
	Jobs      []Job    // that run in the background
	Suspended []Suspended
}

// Overview tells what is known of the image and its sessions. It starts none, and waits for
// nothing.
func (im *Image) Overview() Overview {
	im.mu.Lock()
	inst, starting := im.cur, im.start != nil
	o := Overview{Launched: im.cfg.Attach.IsZero(), Starts: im.starts, Paused: im.paused, Policy: cmp.Or(im.policy, AllowEverything)}
	im.mu.Unlock()
	o.Questions = im.Questions()
	sessions := im.known()
	for _, s := range sessions {
		o.Sessions = append(o.Sessions, s.overview())
	}
	o.State = stateOf(inst != nil, starting, o.Launched, o.Starts)
	if !o.Launched {
		o.Address = im.cfg.Attach.String()
	}
	if inst == nil {
		return o
	}
	o.PID, o.Uptime = inst.proc.PID(), time.Since(inst.born)
	o.Implementation = inst.info.Implementation.Type + " " + inst.info.Implementation.Version
	if network, addr := inst.proc.Address(); network != "" {
		o.Address = network + ":" + addr
	}
	im.timeline.mu.Lock()
	o.Checkpoints = len(im.timeline.checkpoints)
	im.timeline.mu.Unlock()
	return o
}

// known are the sessions, by name.
func (im *Image) known() []*Session {
	im.mu.Lock()
	defer im.mu.Unlock()
	return slices.SortedFunc(maps.Values(im.sessions), func(a, b *Session) int { return cmp.Compare(a.name, b.name) })
}

// stateOf is the state of an image in a word or two.
func stateOf(runs, starting, launched bool, starts int) string {
	switch {
	case runs:
		return "running"
	case !launched:
		return "not connected"
	case starting && starts > 0:
		return "replacing"
	case starting:
		return "starting"
	case starts > 0:
		return "ended"
	}
	return "not started"
}

func (s *Session) overview() SessionOverview {
	o := SessionOverview{Name: s.name}
	o.Running, o.Waiting = s.running()
	for _, j := range s.background.views() {
		if j.Result == nil {
			o.Jobs = append(o.Jobs, j)
		}
	}
	for _, e := range s.suspended.all() {
		o.Suspended = append(o.Suspended, e.public(0))
	}
	return o
}
