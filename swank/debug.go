package swank

import (
	"cmp"
	"slices"
)

// enterDebugger notes that a thread is in the debugger at d.Level, and ties
// that to its calls.
func (c *Conn) enterDebugger(d *Debug) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range d.Conts {
		if k := c.calls[id]; k != nil {
			d.Calls = append(d.Calls, k)
		}
	}
	c.setLevels(d.Thread, append(c.levelsBelow(d.Thread, d.Level), d))
}

// leaveDebugger notes that a thread left the debugger at the given level.
// Leaving several levels at once brings one :debug-return for each.
func (c *Conn) leaveDebugger(t ThreadID, level int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.setLevels(t, c.levelsBelow(t, level))
}

// levelsBelow returns the debuggers of t below level, and unties the calls of
// the others. c.mu is held.
func (c *Conn) levelsBelow(t ThreadID, level int) []*Debug {
	levels := c.debugs[t]
	for len(levels) > 0 && levels[len(levels)-1].Level >= level {
		for _, k := range levels[len(levels)-1].Calls {
			k.debug = nil
		}
		levels = levels[:len(levels)-1]
	}
	return levels
}

// setLevels makes levels the debuggers of t and ties its calls to the innermost
// that they are in. c.mu is held.
func (c *Conn) setLevels(t ThreadID, levels []*Debug) {
	if len(levels) == 0 {
		delete(c.debugs, t)
		return
	}
	c.debugs[t] = levels
	for _, d := range levels {
		for _, k := range d.Calls {
			if c.calls[k.id] == k {
				k.debug = d
			}
		}
	}
}

// Debugs returns the innermost open debugger of each thread that is in one, in
// the order of the threads' numbers.
func (c *Conn) Debugs() []*Debug {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []*Debug
	for _, levels := range c.debugs {
		all = append(all, levels[len(levels)-1])
	}
	slices.SortFunc(all, func(a, b *Debug) int { return cmp.Compare(a.Thread, b.Thread) })
	return all
}
