package mcpbridge

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"swank-mcp/swank/lisp"
)

var runTestsTool = tool{
	name:  "run-tests",
	title: "Run tests",
	set:   inBuild,
	shown: true,
	doc: "Run the tests of a system (ASDF's test-op), or one test or suite of FiveAM, Rove or Parachute, " +
		"showing each failure with its form, values, reason and source, and of an error the backtrace. " +
		"Loads the system first, if one is named. Stopped by its timeout, it tells what has run.",
	params: func(o limits) []param {
		return []param{
			{name: "system", kind: kindText, aliases: []alias{{name: "system-name"}}, doc: "Name of the system."},
			{name: "test", kind: kindText, aliases: []alias{{name: "test-name"}, {name: "suite"}, {name: "name"}},
				doc: "Only this test or suite."},
			timeoutParam(o, testTimeout),
		}
	},
	example:     `{"system": "my-app"}`,
	destructive: true,
	openWorld:   true,
	ordered:     true,
	run:         runTests,
}

// testTimeout is how long tests may take if the call names no limit.
const testTimeout = 300 * time.Second

func runTests(ctx context.Context, r *request) (reply, error) {
	system := strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(r.text("system")), "#:"))
	test := strings.TrimSpace(r.text("test"))
	if r.err == nil && system == "" && test == "" {
		r.fail("run-tests needs a system or a test.")
	}
	in := r.sessionRequest()
	if r.err != nil {
		return reply{}, r.err
	}
	out, res, err := r.image.RunTests(ctx, r.session, system, test, in)
	if err != nil {
		return reply{}, err
	}
	return testsText(cmp.Or(test, system), out, res, in), nil
}

// testsText is the reply of run-tests. It is an error only if the tests could
// not be run to their end: the error that some test-ops signal because tests
// have failed is told with them.
func testsText(what string, t *lisp.Tests, res *lisp.Result, in lisp.Request) reply {
	res.Stderr = withoutCompilerNoise(res.Stderr)
	f := res.Failure
	summary := testSummary(what, t)
	if f != nil {
		f.Frames = slices.DeleteFunc(f.Frames, ofASDF)
	}
	if f != nil && (f.Kind != lisp.KindError || t.Failed+t.Errors == 0) {
		text, _ := ResultText(res, View{Timeout: in.Timeout})
		if t.Tests > 0 {
			head, rest, _ := strings.Cut(text, "\n")
			text = head + "\nBefore that: " + summary + "\n" + rest
		}
		text += originRemark(res)
		var p parts
		p.WriteString(text)
		writeTestFailures(&p, t)
		return reply{text: p.String(), failed: true, failure: f}
	}
	var p parts
	p.WriteString(summary)
	if res.Origin != "" {
		p.WriteString("\n" + originLine(res))
	}
	writeTestFailures(&p, t)
	if f != nil {
		p.begin()
		fmt.Fprintf(&p, "; Then %s: %s", sanitize(f.Type), sanitize(oneLine(f.Message)))
		res.Failure = nil
	}
	p.context(res)
	return reply{text: p.String()}
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
		return sanitize(t.Untested)
	case checks == 0:
		return sanitize(what) + " has run to its end. No results of FiveAM, Rove or Parachute were seen; what it printed is all there is."
	}
	s := fmt.Sprintf("%s (%s): %s, %s", sanitize(what), sanitize(strings.Join(t.Frameworks, ", ")),
		plural(t.Tests, "test"), plural(checks, "check"))
	if t.Passed == checks {
		return s + ", all passed."
	}
	var counts []string
	for _, c := range []struct {
		n    int
		word string
	}{{t.Passed, "passed"}, {t.Failed, "failed"}, {t.Errors, "with an error"}, {t.Skipped, "skipped"}} {
		if c.n > 0 {
			counts = append(counts, count(c.n)+" "+c.word)
		}
	}
	return s + ": " + strings.Join(counts, ", ") + "."
}

func writeTestFailures(p *parts, t *lisp.Tests) {
	for _, f := range t.Failures {
		p.begin()
		p.WriteString(sanitize(strings.ToUpper(f.Status) + " " + f.Test))
		for _, line := range []string{f.Form, f.Reason} {
			if line = oneLine(line); line != "" {
				p.WriteString("\n  " + sanitize(line))
			}
		}
		if f.Place != "" {
			p.WriteString("\n  in " + sanitize(f.Place))
		}
		for i, frame := range f.Frames {
			fmt.Fprintf(p, "\n  %d: %s", i, sanitize(oneLine(frame)))
		}
	}
	if more := t.Failed + t.Errors - len(t.Failures); more > 0 {
		fmt.Fprintf(p, "\n\n; %s", plural(more, "more failure"))
	}
}
