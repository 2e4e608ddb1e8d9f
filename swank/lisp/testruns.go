package lisp

import (
	"slices"
	"strings"
	"sync"
	"time"
)

// testRuns records how tests have ended in a session: the runs of each system, or test.
type testRuns struct {
	mu     sync.Mutex
	last   map[string]testRecord
	latest *testRun
}

// testRun is a run of the tests of a system, or of one of them.
type testRun struct {
	system, test string
	took         time.Duration // without the loading
}

// testRecord records how the runs of the same tests have ended in a session.
type testRecord struct {
	whole bool      // one has come to its end; the next three are of the last such run
	ran   []TestRan // the first of them
	tests int       // how many have run
	err   string    // type of the error with which the run ended; "": none

	cut string // why the last run has not come to its end; "": it has
}

func runKey(system, test string) string {
	return system + "\n" + strings.ToLower(test)
}

// note records what came of a run of the tests that run names. Of one that is suspended,
// or was stopped, some tests have not run: it is only recorded that there was such a run.
func (t *testRuns) note(run testRun, tests *Tests, res *Result) {
	if run.system == "" {
		return
	}
	if !tests.whole(res) {
		t.noteCut(run, tests.cut(res))
		return
	}
	run.took = tests.Took
	record := testRecord{whole: true, ran: tests.Ran, tests: tests.Tests}
	if res.Failure != nil {
		record.err = res.Failure.Type
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.latest = &run
	t.keep(run, record)
}

// noteCut records that the last run of the tests that run names has not come to its end,
// and why.
func (t *testRuns) noteCut(run testRun, why string) {
	if run.system == "" {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	record := t.last[runKey(run.system, run.test)]
	record.cut = why
	t.keep(run, record)
}

// keep stores the record of the tests that run names; the caller holds t.mu.
func (t *testRuns) keep(run testRun, record testRecord) {
	if t.last == nil {
		t.last = map[string]testRecord{}
	}
	t.last[runKey(run.system, run.test)] = record
}

// whole reports whether a run with the result res has come to its end; an error of the
// program's is one.
func (t *Tests) whole(res *Result) bool {
	f := res.Failure
	return t.Begun && res.Suspended == nil && !res.Waiting &&
		(f == nil || f.Kind == KindError && f.Type != typeAborted)
}

// cut says, in a few words, why a run with the result res has not come to its end.
func (t *Tests) cut(res *Result) string {
	switch f := res.Failure; {
	case res.Suspended != nil || res.Waiting:
		return "suspended"
	case f == nil:
		return "its tests did not begin"
	case f.Kind != KindError:
		return f.Kind.String()
	case !t.Begun:
		return f.Type + " before its tests"
	default:
		return f.Type
	}
}

// of returns what is recorded of the session's runs of the tests.
func (t *testRuns) of(system, test string) testRecord {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last[runKey(system, test)]
}

// newest returns the run that was the last of all to come to its end; nil: there was none.
func (t *testRuns) newest() *testRun {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.latest
}

// Comparison tells how a run of tests differs from the session's last run of them that has
// come to its end. It has only what both have recorded.
type Comparison struct {
	Run bool   // there was such a run; false: there is nothing to compare with
	Cut string // why the session's last run did not come to its end, in a few words; "": it did, or there was none

	Whole   bool         // the other run has come to its end
	Same    int          // tests that ended as in the session's
	Changed []TestChange // those that ended otherwise
	Unknown int          // of which only one run has a result, and it is not known whether the other ran them

	Was, Is string // types of the errors with which the session's, and the other run ended; "": none
}

// compare compares a run with the result res with what the record has.
func (r *testRecord) compare(now *Tests, res *Result) *Comparison {
	c := &Comparison{Run: r.whole, Cut: r.cut, Whole: now.whole(res), Was: r.err}
	if res.Failure != nil {
		c.Is = res.Failure.Type
	}
	if !r.whole {
		return c
	}
	before := make(map[string]string, len(r.ran))
	for _, ran := range r.ran {
		before[ran.Test] = ran.Status
	}
	allBefore := r.tests <= len(r.ran)
	allNow := c.Whole && now.Tests <= len(now.Ran)
	for _, ran := range now.Ran {
		was, ok := before[ran.Test]
		switch {
		case !ok && !allBefore:
			c.Unknown++
		case was == ran.Status:
			c.Same++
		default:
			c.Changed = append(c.Changed, TestChange{ran.Test, was, ran.Status})
		}
		delete(before, ran.Test)
	}
	for _, ran := range r.ran {
		status, ok := before[ran.Test]
		switch {
		case ok && !allNow:
			c.Unknown++
		case ok:
			c.Changed = append(c.Changed, TestChange{ran.Test, status, ""})
		}
	}
	return c
}

var failures = []string{"failed", "error"}

// nowFailing returns the tests that have failed now and had not in the last run.
func (c *Comparison) nowFailing() (tests []string) {
	for _, change := range c.Changed {
		if slices.Contains(failures, change.Fresh) && !slices.Contains(failures, change.Session) {
			tests = append(tests, change.Test)
		}
	}
	return tests
}
