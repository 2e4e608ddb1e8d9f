package swank

import (
	"cmp"
	"slices"
	"strings"

	"swank-mcp/sexp"
)

// Debug tells that a Lisp thread entered the debugger, or came back to this
// level of it. It may come twice for one level. Until the debugger is left the
// thread does only what requests with its number as [Request.Thread] tell it.
type Debug struct {
	Thread    ThreadID
	Level     int // 1 is the outermost
	Condition Condition
	Frames    []Frame // the innermost first, at most 20 of them; none beyond the first 200 debuggers

	// Calls are the calls of this connection that the thread is working on,
	// the innermost first. It is empty for a thread that no request of ours
	// runs in.
	Calls []*Call
}

// Limits of what is kept of debuggers, which a program may invent. One beyond maxDebugs is not
// known, and one beyond maxTexts has no texts.
const (
	maxDebugs  = 10_000
	maxTexts   = 200
	maxFrames  = 20
	maxText    = 2_000   // bytes
	maxMessage = 262_144 // bytes
)

// Condition is what the debugger was entered for. Swank cuts Message at 65,536
// characters. It is zero for debuggers beyond the first 200 that are open.
type Condition struct {
	Message string
	Type    string // the name of its class, as printed in the request's package
}

// Frame is one line of a backtrace, cut by Swank at some 200 characters.
type Frame struct {
	_      struct{} `sexp:",list"`
	Number int
	Text   string
}

// wireDebug is what follows :debug.
type wireDebug struct {
	_         struct{} `sexp:",list"`
	Thread    ThreadID
	Level     int
	Condition struct {
		_        struct{} `sexp:",list"`
		Message  string
		TypeLine string
	}
	Restarts sexp.Raw
	Frames   []Frame
	Conts    []sexp.Raw // ids of the requests pending in the thread, innermost first
}

// debugger notes that a thread is in the debugger, and tells the handler.
func (c *Conn) debugger(w *wireDebug) {
	d := &Debug{
		Thread:    w.Thread,
		Level:     w.Level,
		Condition: Condition{cut(w.Condition.Message, maxMessage), cut(conditionType(w.Condition.TypeLine), maxText)},
	}
	for _, f := range w.Frames[:min(len(w.Frames), maxFrames)] {
		d.Frames = append(d.Frames, Frame{Number: f.Number, Text: cut(f.Text, maxText)})
	}
	var ids []int64
	for _, raw := range w.Conts {
		// Another client may have sent our thread a request with an id of any type.
		var id int64
		if sexp.Unmarshal(raw, &id) == nil {
			ids = append(ids, id)
		}
	}
	if c.enterDebugger(d, ids) && c.opts.Handler != nil {
		c.opts.Handler(d)
	}
}

// cut returns a copy of text, at most so many bytes of it.
func cut(text string, most int) string {
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "")
	}
	return strings.Clone(text)
}

// conditionType returns X of "   [Condition of type X]".
func conditionType(line string) string {
	line = strings.TrimSpace(line)
	if t, ok := strings.CutPrefix(line, "[Condition of type "); ok {
		return strings.TrimSuffix(t, "]")
	}
	return line
}

// enterDebugger notes that a thread is in the debugger at d.Level, and ties
// that to its calls, those of the given ids. It reports whether there was room.
func (c *Conn) enterDebugger(d *Debug, ids []int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open >= maxDebugs {
		return false
	}
	if c.open >= maxTexts {
		d.Condition, d.Frames = Condition{}, nil
	}
	for _, id := range ids {
		if k := c.calls[id]; k != nil {
			d.Calls = append(d.Calls, k)
		}
	}
	c.setLevels(d.Thread, append(c.levelsBelow(d.Thread, d.Level), d))
	return true
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
	c.open += len(levels) - len(c.debugs[t])
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
