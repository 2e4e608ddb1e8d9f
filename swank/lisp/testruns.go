package lisp

import (
	"strings"
	"sync"
)

// testRuns is how tests have ended in a session: of each system, or test, the last run.
type testRuns struct {
	mu   sync.Mutex
	last map[string][]TestRan
}

func runKey(use freshUse, test string) string {
	return strings.ToLower(use.System + "\n" + test)
}

func (t *testRuns) note(use freshUse, test string, tests *Tests) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.last == nil {
		t.last = map[string][]TestRan{}
	}
	t.last[runKey(use, test)] = tests.Ran
}

// compare returns the tests that have ended otherwise than in the last run; false: there
// was none.
func (t *testRuns) compare(use freshUse, test string, now *Tests) (changed []TestChange, compared bool) {
	t.mu.Lock()
	last, compared := t.last[runKey(use, test)]
	t.mu.Unlock()
	if !compared {
		return nil, false
	}
	before := make(map[string]string, len(last))
	for _, ran := range last {
		before[ran.Test] = ran.Status
	}
	for _, ran := range now.Ran {
		if was := before[ran.Test]; was != ran.Status {
			changed = append(changed, TestChange{ran.Test, was, ran.Status})
		}
		delete(before, ran.Test)
	}
	for _, ran := range last {
		if status, ok := before[ran.Test]; ok {
			changed = append(changed, TestChange{ran.Test, status, ""})
		}
	}
	return changed, true
}
