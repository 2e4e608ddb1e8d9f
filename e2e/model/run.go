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

	mu      sync.Mutex // of all but the world: [Run.do] unlocks it while it waits
	script  script
	taken   map[string]int // steps, by name
	replies []string       // to the calls of this step
	failure string
}

func newRun(t *testing.T) *Run {
	return &Run{T: t, Session: newSession(), taken: map[string]int{}}
}

func (r *Run) locked(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f()
}

func (r *Run) failed() (failed bool) {
	r.locked(func() { failed = r.failure != "" })
	return failed
}

// steps are all steps, by name. Each reports whether it could be taken.
var steps = map[string]func(*Run, Step) bool{
	"define": calls((*Session).takeDefine), "live": calls((*Session).takeLive), "nothing": calls((*Session).takeNothing),
	"setup": calls((*Session).takeSetup), "call": calls((*Session).takeCall), "pair": calls((*Session).takePair),
	"undo definition": calls((*Session).takeUndo), "unintern": calls((*Session).takeUnintern),
	"package": calls((*Session).takePackage), "delete": calls((*Session).takeDelete), "rename": calls((*Session).takeRename),

	"in": calls((*Session).takeIn), "set package": calls((*Session).takeSetPackage), "in and back": calls((*Session).takeInAndBack),
	"in, then error": calls((*Session).takeInAndError), "error, then in": calls((*Session).takeErrorAndIn),
	"argument": calls((*Session).takeArgument), "argument and in": calls((*Session).takeArgumentAndIn), "argument and error": calls((*Session).takeArgumentAndError),
	"use": calls((*Session).takeUse), "export": calls((*Session).takeExport),
	"function": calls((*Session).takeFunction), "function in": calls((*Session).takeFunctionIn),

	"edit": calls((*Session).takeEdit), "edit and load": calls((*Session).takeEditAndLoad), "edits and loads": calls((*Session).takeEditsAndLoads),
	"load": calls((*Session).takeLoad), "test": calls((*Session).takeTest), "file of mini": calls((*Session).takeFile),

	"edit form": onName((*Run).editForm), "take away": onName((*Run).takeAway), "live form": onName((*Run).liveOnly),
	"live and written": onName((*Run).liveAndWritten), "as written": onName((*Run).asWritten), "undo form": onName((*Run).undoForm),
	"load one": onName((*Run).loadOne), "other files": (*Run).otherFiles, "tidy": (*Run).tidy,
	"load by status": (*Run).loadByStatus, "load project": (*Run).loadProject,

	"write back": (*Run).writeBack,

	"change": (*Run).change, "try": (*Run).try, "go back": (*Run).goBack, "go forward": (*Run).goForward,
	"checkpoint": (*Run).checkpoint, "go to": (*Run).goTo,

	"die": (*Run).die, "reset": (*Run).reset, "save": (*Run).save, "save and bring back": (*Run).saveAndBringBack,
}

func init() {
	for name, of := range mixedCalls {
		steps[name] = calls(func(o *Session, s Step) []Call { return o.takeMixed(s, of) })
	}
}

// calls makes a step of what tells its calls, which could not be taken if there are none.
func calls(of func(*Session, Step) []Call) func(*Run, Step) bool {
	return func(r *Run, s Step) bool {
		made := of(r.Session, s)
		for _, c := range made {
			r.do(c)
		}
		return made != nil
	}
}

// take takes one step and compares.
func (r *Run) take(name string, s Step, check func(*Run)) {
	r.mu.Lock()
	defer r.mu.Unlock()
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
	if r.failure == "" {
		r.failure = fmt.Sprintf(format, args...) + "\n\nreplies:\n" + strings.Join(r.replies, "\n")
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
