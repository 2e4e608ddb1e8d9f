package lisp

import (
	"context"
	"time"

	"swank-mcp/swank/lisp/helper"
)

// Reloaded is what came of [Session.Reload].
type Reloaded struct {
	Systems []string `sexp:"systems"` // of which files had changed; none: nothing was loaded

	Tested  string   `sexp:"-"` // the system whose tests were run again, as the last of the session's; "": none were
	Failing []string `sexp:"-"` // those that had not failed then
}

// Reload loads the loaded systems of the project again of which files were saved since,
// and those that depend on them; then it runs the tests again that the session has run
// last, if they took less than some seconds. It starts no image: in a new one nothing is
// loaded. Reloaded is nil then. Result, which is of the loading, and error are those of
// [Session.Evaluate].
func (s *Session) Reload(ctx context.Context, r Request) (*Reloaded, *Result, error) {
	if inst, err := s.im.running(ctx); inst == nil {
		return nil, nil, err
	}
	s.im.lookAtProject(ctx)
	done, res, err := reported[Reloaded](ctx, s, r, job{title: "loading what has changed", code: "(SWANK-MCP:RELOAD-CHANGED)",
		call: helper.NewCall("RELOAD-CHANGED")})
	if err != nil || res.Failure != nil || len(done.Systems) == 0 {
		return done, res, err
	}
	return done, res, s.testAgain(ctx, done)
}

// quickTests is how long tests may have taken that are run again without being asked for.
const quickTests = 10 * time.Second

// testAgain runs the session's last tests again. What ends otherwise than with results,
// as by its limit of time, tells nothing.
func (s *Session) testAgain(ctx context.Context, done *Reloaded) error {
	run := s.runs.newest()
	if run == nil || run.took > quickTests {
		return nil
	}
	last, _ := s.runs.of(freshUse{run.system, true}, run.test)
	now, res, err := s.RunTests(ctx, run.system, run.test, Request{Debug: defaultDebug, Timeout: 2 * quickTests})
	if err == nil && now.Begun && (res.Failure == nil || res.Failure.Kind == KindError) {
		done.Tested, done.Failing = run.system, nowFailing(last, now.Ran)
	}
	return err
}
