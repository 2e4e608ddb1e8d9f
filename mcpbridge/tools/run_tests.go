package tools

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"swank-mcp/mcpbridge/args"
	"swank-mcp/mcpbridge/render"
	"swank-mcp/swank/lisp"
)

var runTestsTool = Tool{
	Name:  "run-tests",
	Title: "Run tests",
	Set:   Build,
	Shown: true,
	Doc: "Run the tests of a system (ASDF's test-op), or one test or suite, " +
		"showing each failure with its form, values, reason and source, and of an error the backtrace. " +
		"Knows FiveAM, Rove, Parachute, RT, Fiasco, 1am, lisp-unit2, Prove and Clunit2. " +
		"Loads the system first, if one is named. Stopped by its timeout, it tells what has run.",
	Params: []args.Param{
		{Name: "system", Kind: args.Text, Aliases: []args.Alias{{Name: "system-name"}}, Doc: "Name of the system."},
		{Name: "test", Kind: args.Text, Aliases: []args.Alias{{Name: "test-name"}, {Name: "suite"}, {Name: "name"}},
			Doc: "Only this test or suite."},
		freshParam,
		hidden(debugParam(debugDoc)), onErrorParam,
		verboseParam,
		timeoutParam(testTimeout, untilStopped),
	},
	Example: `{"system": "my-app"}`,
	Effect:  runsCode,
	run:     runTests,
}

// testTimeout is how long tests may take if the call names no limit.
const testTimeout = 300 * time.Second

func runTests(ctx context.Context, r *Request) (Reply, error) {
	system := r.systemName()
	test := strings.TrimSpace(r.Text("test"))
	if system == "" && test == "" {
		return Reply{}, r.Fail("run-tests needs a system or a test.")
	}
	in := r.sessionRequest()
	if r.Flag("fresh") {
		return testFresh(ctx, r, system, test, in)
	}
	out, res, err := r.Session.RunTests(ctx, system, test, in)
	if err != nil {
		return Reply{}, err
	}
	boundWarnings(res, r.Flag("verbose"), r.Spool)
	r.boundTestOutput(out, res)
	return testsText(cmp.Or(test, system), out, res, in), nil
}

// testsText is the reply of run-tests. It is an error only if the tests could
// not be run to their end: the error that some test-ops signal because tests
// have failed is told with them.
func testsText(what string, t *lisp.Tests, res *lisp.Result, in lisp.Request) Reply {
	res.Stderr = withoutCompilerNoise(res.Stderr)
	f := res.Failure
	summary := testSummary(what, t)
	if f != nil {
		f.Frames = slices.DeleteFunc(f.Frames, ofASDF)
	}
	if f != nil && (f.Kind != lisp.KindError || t.Failed+t.Errors == 0 || res.Suspended != nil) {
		text, _ := render.Result(res, render.View{Timeout: in.Timeout})
		if t.Tests > 0 {
			head, rest, _ := strings.Cut(text, "\n")
			text = head + "\nBefore that: " + summary + "\n" + rest
		}
		text += originRemark(res)
		var p render.Parts
		p.WriteString(text)
		writeTestFailures(&p, t)
		return Reply{Text: p.String(), Failed: true, Failure: f}
	}
	var p render.Parts
	p.WriteString(summary)
	if res.Origin != "" {
		p.WriteString("\n" + originLine(res))
	}
	writeTestFailures(&p, t)
	if f != nil {
		p.Begin()
		fmt.Fprintf(&p, "; Then %s: %s", render.Safe(f.Type), render.Safe(render.OneLine(f.Message)))
		res.Failure = nil
	}
	p.Context(res)
	return Reply{Text: p.String()}
}

// ofASDF reports whether a frame is of the machinery that loads and runs tests.
func ofASDF(frame string) bool {
	return strings.HasPrefix(frame, "(ASDF:") || strings.Contains(frame, "ASDF/") || strings.Contains(frame, "UIOP/")
}

// testSummary is a line such as
// "my-app (FiveAM): 3 tests, 5 checks: 4 passed, 1 failed."
func testSummary(what string, t *lisp.Tests) string {
	checks := t.Passed + t.Failed + t.Errors + t.Skipped
	switch {
	case checks == 0 && t.Untested != "":
		return render.Safe(t.Untested)
	case checks == 0:
		return render.Safe(unknownOutcome(what, t))
	}
	s := fmt.Sprintf("%s (%s): %s, %s", render.Safe(what), render.Safe(strings.Join(t.Frameworks, ", ")),
		render.Plural(t.Tests, "test"), render.Plural(checks, "check"))
	if t.Passed == checks {
		return s + ", all passed."
	}
	var counts []string
	for _, c := range []struct {
		n    int
		word string
	}{{t.Passed, "passed"}, {t.Failed, "failed"}, {t.Errors, "with an error"}, {t.Skipped, "skipped"}} {
		if c.n > 0 {
			counts = append(counts, render.Count(c.n)+" "+c.word)
		}
	}
	return s + ": " + strings.Join(counts, ", ") + "."
}

// frameworks names those whose results are seen, as the helper's *frameworks* has them.
const frameworks = "FiveAM, Rove, Parachute, RT, Fiasco, 1am, lisp-unit2, Prove or Clunit2"

// unknownOutcome describes tests that have ended and of which no result was seen.
func unknownOutcome(what string, t *lisp.Tests) string {
	text := what + ": the outcome is not known. It has ended without an error, and no result of " + frameworks + " was seen."
	if t.Returned != "" {
		text += " Its TEST-OP has returned " + t.Returned + "."
	}
	return text
}

func writeTestFailures(p *render.Parts, t *lisp.Tests) {
	for _, f := range t.Failures {
		p.Begin()
		p.WriteString(render.Safe(strings.ToUpper(f.Status) + " " + f.Test))
		for _, line := range []string{f.Form, f.Reason} {
			if line = render.OneLine(line); line != "" {
				p.WriteString("\n  " + render.Safe(line))
			}
		}
		if f.Place != "" {
			p.WriteString("\n  in " + render.Safe(f.Place))
		}
		p.Frames(f.Frames, "\n  ")
	}
	if more := t.Failed + t.Errors - len(t.Failures); more > 0 {
		fmt.Fprintf(p, "\n\n; %s", render.Plural(more, "more failure"))
	}
}
