package lisp

import (
	"context"
	"fmt"
	"time"

	"swank-mcp/swank/lisp/helper"
)

// Reloaded is what came of [Session.Reload].
type Reloaded struct {
	Systems  []string `sexp:"systems"`  // of which files had changed; none: nothing was loaded
	Replaced []string `sexp:"replaced"` // what the session had defined otherwise and the files have replaced

	Tested   string   `sexp:"-"` // the system whose tests were run again, as the last of the session's; "": there are none
	Untested string   `sexp:"-"` // that they were not, or not to their end, as the rest of a sentence about them; "": they were
	Failing  []string `sexp:"-"` // those that had not failed then
	Cut      bool     `sexp:"-"` // the last run did not come to its end: the last that did is the one that counts
}

// Reload loads the loaded systems of the project again of which files were saved since,
// and those that depend on them; then it runs the tests again that the session has run
// last, if they took less than some seconds. All this is one turn, and tell is called
// before that ends: the jobs behind it see the new code, and tell has said so. It starts
// no image: in a new one nothing is loaded, and tell is not called. The Result is of the
// loading. It and the error are those of [Session.Evaluate].
func (s *Session) Reload(ctx context.Context, r Request, tell func(*Reloaded, *Result)) error {
	if inst, err := s.im.running(ctx); inst == nil {
		return err
	}
	s.im.lookAtProject(ctx)
	j := job{title: "loading what has changed", code: "(SWANK-MCP:RELOAD-CHANGED)",
		call: helper.NewCall("RELOAD-CHANGED"), number: s.im.jobs.Add(1)}
	if r.Progress != nil {
		defer s.im.tellProgress(j.number, r.Progress)()
	}
	if err := s.takeTurn(ctx, &j, r.Timeout); err != nil {
		return err
	}
	defer s.done()
	done := new(Reloaded)
	res, err := s.within(ctx, &j, r, done)
	if err != nil {
		return err
	}
	if res.Failure == nil && len(done.Systems) > 0 {
		err = s.testAgain(ctx, done)
	}
	tell(done, res)
	return err
}

// within does j for the holder of the turn, and decodes what it reports.
func (s *Session) within(ctx context.Context, j *job, r Request, report any) (*Result, error) {
	res, err := s.carryOut(ctx, j, r.Timeout, func() (*Result, error) { return s.perform(ctx, r, j) })
	return res, decodeReport(res, err, report)
}

// quickTests is how long tests may have taken that are run again without being asked for.
const quickTests = 30 * time.Second

// testAgain runs the session's last tests again, for the holder of the turn.
func (s *Session) testAgain(ctx context.Context, done *Reloaded) error {
	run := s.runs.newest()
	if run == nil {
		return nil
	}
	done.Tested = run.system
	if run.took > quickTests {
		done.Untested = fmt.Sprintf("were not run again: they took %.0f s, more than %.0f", run.took.Seconds(), quickTests.Seconds())
		return nil
	}
	last := s.runs.of(run.system, run.test)
	j := testsJob(run.system, run.test)
	j.number = s.im.jobs.Add(1)
	s.tell(&j, Event{Kind: EventQueued})
	now := new(Tests)
	res, err := s.within(ctx, &j, Request{Debug: defaultDebug, Timeout: 2 * quickTests}, now)
	if err != nil {
		return err
	}
	s.tested(j.tests, now, res)
	c := last.compare(now, res)
	done.Failing, done.Cut = c.nowFailing(), c.Cut != ""
	switch {
	case !c.Whole:
		done.Untested = "were run again and did not come to their end"
	case c.Is != "" && c.Is != c.Was:
		done.Untested = "were run again and ended with " + c.Is + ", not as before"
	case now.Tests == 0:
		done.Untested = "were run again, and no results of tests were seen"
	}
	return nil
}
