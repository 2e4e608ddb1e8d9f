package lisp

import (
	"slices"
	"strings"
	"sync"
	"time"
)

// testRuns is how tests have ended in a session: of each system, or test, the last run.
type testRuns struct {
	mu     sync.Mutex
	last   map[string][]TestRan
	latest *testRun
}

// testRun is a run of the tests of a system, or of one of them.
type testRun struct {
	system, test string
	took         time.Duration // without the loading
}

func runKey(system, test string) string {
	return system + "\n" + strings.ToLower(test)
}

// note notes what came of a run of the tests that run names, if it has come to its end: of
// one that is suspended, or was stopped, some tests have not run.
func (t *testRuns) note(run testRun, tests *Tests, res *Result) {
	if run.system == "" || !tests.whole(res) {
		return
	}
	run.took = tests.Took
	t.mu.Lock()
	defer t.mu.Unlock()
	t.latest = &run
	if t.last == nil {
		t.last = map[string][]TestRan{}
	}
	t.last[runKey(run.system, run.test)] = tests.Ran
}

// whole reports whether a run with the result res has come to its end; an error of the
// program's is one.
func (t *Tests) whole(res *Result) bool {
	f := res.Failure
	return t.Begun && res.Suspended == nil && !res.Waiting &&
		(f == nil || f.Kind == KindError && f.Type != typeAborted)
}

// of returns how the tests ended in the last run; false: there was none.
func (t *testRuns) of(system, test string) ([]TestRan, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	last, ok := t.last[runKey(system, test)]
	return last, ok
}

// newest returns the run that was the last of all; nil: there was none.
func (t *testRuns) newest() *testRun {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.latest
}

// changes returns the tests that have ended otherwise now than in the last run.
func changes(last, now []TestRan) (changed []TestChange) {
	before := make(map[string]string, len(last))
	for _, ran := range last {
		before[ran.Test] = ran.Status
	}
	for _, ran := range now {
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
	return changed
}

var failures = []string{"failed", "error"}

// nowFailing are the tests that have failed now and had not in the last run.
func nowFailing(last, now []TestRan) (tests []string) {
	for _, c := range changes(last, now) {
		if slices.Contains(failures, c.Fresh) && !slices.Contains(failures, c.Session) {
			tests = append(tests, c.Test)
		}
	}
	return tests
}
