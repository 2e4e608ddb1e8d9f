package lisp

import (
	"cmp"
	"context"
	"time"

	"swank-mcp/swank/lisp/helper"
)

// Tests is what came of running tests: those that have run, if they were
// stopped.
type Tests struct {
	What       string   `sexp:"what"`       // the system or test that was named
	Frameworks []string `sexp:"frameworks"` // FiveAM, RT, …: those whose results were seen
	Tests      int      `sexp:"tests"`      // tests that had a result

	// Checks
	Passed  int `sexp:"passed"`
	Failed  int `sexp:"failed"`
	Errors  int `sexp:"errors"`
	Skipped int `sexp:"skipped"`

	Failures []TestFailure `sexp:"failures"` // the first hundred
	Ran      []TestRan     `sexp:"ran"`      // the first 5,000
	Begun    bool          `sexp:"begun"`    // the system was loaded
	Took     time.Duration `sexp:"took"`     // the tests, without the loading; in whole microseconds

	Untested string `sexp:"untested"` // why there was no test to run; "" if that is not known
	Returned string `sexp:"returned"` // what the TEST-OP has returned; "" if that was not seen
}

// TestFailure is one check that did not pass.
type TestFailure struct {
	_      struct{} `sexp:",list"`
	Test   string   // its name
	Status string   // failed or error
	Form   string   // what was checked; may be ""
	Reason string   // values, or the condition
	Place  string   // file:line; may be ""

	Frames []string // of an error, where it was signalled
}

// TestRan is a test that has run.
type TestRan struct {
	_      struct{} `sexp:",list"`
	Test   string
	Status string // passed, failed, error or skipped: the worst of its checks
}

// RunTests runs the named test of a framework that is known, after loading the
// system if one is named; or all tests of the system, by its test-op. Result
// and error are those of [Session.Evaluate]; the Result has no Values, and is no
// Failure because a test has failed.
func (s *Session) RunTests(ctx context.Context, system, test string, r Request) (*Tests, *Result, error) {
	s.im.lookAtProject(ctx)
	j := testsJob(system, test)
	t, res, err := reported[Tests](ctx, s, r, j)
	if err == nil {
		s.tested(j.tests, t, res)
	}
	return t, res, err
}

// testsJob is the job of running tests.
func testsJob(system, test string) job {
	return job{title: "run-tests " + system + " " + test, code: shownCall("SWANK-MCP:RUN-TESTS", cmp.Or(test, system)),
		tests: testRun{system: system, test: test}, call: helper.NewCall("RUN-TESTS").Opt("SYSTEM", system).Opt("TEST", test)}
}

// tested notes what came of a job of testsJob, t, as it was decoded, and res.
func (s *Session) tested(run testRun, t *Tests, res *Result) {
	t.Took *= time.Microsecond
	s.runs.note(run, t, res)
	if t.Begun && run.system != "" {
		s.wantCore(freshUse{[]string{run.system}, true})
	}
}
