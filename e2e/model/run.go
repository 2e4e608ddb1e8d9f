//go:build unix

package model

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"

	"swank-mcp/e2e/harness"
)

// Run is a sequence of steps in a world, as far as it has gone.
type Run struct {
	*World
	*Session
	T *testing.T

	mu      sync.Mutex // of all but the world: it is locked, but while [Run.do] waits
	script  script
	taken   map[string]int // steps, by name
	replies []string       // to the calls of this step
	failure string
}

func newRun(t *testing.T) *Run {
	r := &Run{T: t, Session: newSession(), taken: map[string]int{}}
	r.mu.Lock()
	return r
}

// step reports whether it could be taken.
type step = func(*Run, Step) bool

// steps are all steps, by name.
var steps = map[string]step{}

// take takes one step and compares.
func (r *Run) take(name string, s Step, check func(*Run)) {
	before := len(r.script.lines)
	r.replies = nil
	if !steps[name](r, s) {
		return
	}
	r.taken[name]++
	if r.failure == "" && check != nil {
		check(r)
	}
	if r.failure != "" {
		r.failure = fmt.Sprintf("%s:\n%s\n%s", name, strings.Join(r.script.lines[before:], "\n"), r.failure)
	}
}

// fails notes what is wrong. What comes after the first is not looked at.
func (r *Run) fails(format string, args ...any) {
	if r.failure != "" {
		return
	}
	r.failure = fmt.Sprintf(format, args...) + "\n\nreplies:\n" + strings.Join(r.replies, "\n")
	if r.before != "" {
		r.failure += "\n" + r.World.Do(r.T, Tool("list-threads", harness.Object{"backtraces": true}))
	}
}

// do makes a call and returns the reply.
func (r *Run) do(c Call) string {
	r.mu.Unlock()
	reply := r.World.Do(r.T, c)
	r.mu.Lock()
	r.script.add(c, reply)
	r.learn(reply)
	r.replies = append(r.replies, harness.Clip(reply))
	const note = "was deleted" // only where it is wanted
	if c.Tool != "" && reply == "" || strings.HasPrefix(reply, "no reply") || !regexp.MustCompile(c.want).MatchString(reply) || c.want != "" && strings.Count(reply, note) != strings.Count(c.want, note) {
		r.fails("%s %v: want %q, got:\n%s", c.Tool, c.Args, c.want, harness.Clip(reply))
	}
	return reply
}

// good makes a call, which must succeed.
func (r *Run) good(c Call) string {
	reply := r.do(c)
	if harness.Failure(reply) {
		r.fails("%s %v fails", c.Tool, c.Args)
	}
	return reply
}

func (r *Run) run(calls ...Call) bool {
	for _, c := range calls {
		r.do(c)
	}
	return true
}

func (r *Run) eval(code string, args ...any) bool { return r.run(Eval(fmt.Sprintf(code, args...))) }
