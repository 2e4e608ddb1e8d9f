package tools

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"swank-mcp/mcpbridge/args"
	"swank-mcp/mcpbridge/render"
	"swank-mcp/swank/lisp"
)

// freshParam has a tool do its work in a fresh image.
var freshParam = args.Param{Name: "fresh", Kind: args.Flag,
	Doc: "In a new image, from the files alone; tells what differs. The session's stays."}

// freshText is reply, of a call in a fresh image, with what was otherwise there.
func freshText(reply Reply, f *lisp.Fresh) Reply {
	lines := append([]string{"This was in a fresh image, with only what the files define; it has ended."}, missingLines(f)...)
	if f.Compared != nil {
		lines = append(lines, comparisonLines(f.Compared)...)
	}
	reply.Text += "\n; " + render.Safe(strings.Join(lines, "\n; "))
	return reply
}

func missingLines(f *lisp.Fresh) (lines []string) {
	for _, m := range f.Missing {
		line := fmt.Sprintf("Missing: %s, a %s that no file defines", m.Name, m.Kind)
		if m.InImage {
			line += ": it is in the session's image only"
		}
		lines = append(lines, line+".")
	}
	return lines
}

// maxChanges is how many tests are told that have ended otherwise.
const maxChanges = 25

// comparisonLines tells what is recorded of both runs, and no more.
func comparisonLines(c *lisp.Comparison) (lines []string) {
	if !c.Run {
		return []string{cmp.Or(prefixed("No run of these tests in the session has come to its end; the last: ", c.Cut),
			"The session has not run these tests") + ": there is nothing to compare with."}
	}
	theirs := "the session's last run"
	if c.Cut != "" {
		lines = append(lines, "The session's last run of these tests did not come to its end: "+c.Cut+". The last that did is compared.")
		theirs = "the session's last whole run"
	}
	if !c.Whole {
		lines = append(lines, "This run did not come to its end: only the tests that ended in it are compared.")
	} else if c.Unknown > 0 {
		lines = append(lines, render.Plural(c.Unknown, "test")+" could not be compared: of one of the runs, not all results are kept.")
	}
	differs := len(c.Changed) > 0 || c.Whole && c.Was != c.Is
	if c.Whole && c.Was != c.Is {
		lines = append(lines, fmt.Sprintf("Differs: the run %s here, %s in %s.", runEnded(c.Is), runEnded(c.Was), theirs))
	}
	for _, change := range c.Changed[:min(len(c.Changed), maxChanges)] {
		lines = append(lines, fmt.Sprintf("Differs: %s %s here, %s in %s.", change.Test, ended(change.Fresh), ended(change.Session), theirs))
	}
	switch more := len(c.Changed) - maxChanges; {
	case more > 0:
		lines = append(lines, render.Plural(more, "more test")+" ended otherwise.")
	case differs:
	case c.Same > 0 && c.Unknown == 0:
		lines = append(lines, "Each test ended as in "+theirs+".")
	case c.Same > 0:
		lines = append(lines, "As in "+theirs+" ended "+render.Plural(c.Same, "test")+".")
	case c.Whole && c.Unknown == 0:
		lines = append(lines, fmt.Sprintf("No results of tests were seen, here or in %s; each %s.", theirs, runEnded(c.Is)))
	default:
		lines = append(lines, "No test has a result in both: there is nothing to compare.")
	}
	return lines
}

// prefixed returns text after prefix, and "" if text is "".
func prefixed(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}

// runEnded says how a run has ended, whose error has the type failure.
func runEnded(failure string) string {
	if failure == "" {
		return "came to its end"
	}
	return "ended with " + failure
}

// ended says how a test has ended, in words.
func ended(status string) string {
	switch status {
	case "":
		return "did not run"
	case "error":
		return "ended with an error"
	case "skipped":
		return "was skipped"
	}
	return strings.ToLower(status)
}

const nothingSuspended = "on-error is debug; with fresh it must be report: the new image ends with the call."

// loadFresh is load-system in a fresh image.
func loadFresh(ctx context.Context, r *Request, system, name string, in lisp.Request) (Reply, error) {
	if in.Suspend {
		return Reply{}, r.Fail(nothingSuspended)
	}
	f, err := r.Session.Fresh(ctx, system, false, "", in)
	if err != nil {
		return Reply{}, err
	}
	boundWarnings(f.Result, r.Flag("verbose"), r.Spool)
	return freshText(loadText(name, in.Timeout, f.Result), f), nil
}

// testFresh is run-tests in a fresh image.
func testFresh(ctx context.Context, r *Request, system, test string, in lisp.Request) (Reply, error) {
	if system == "" {
		return Reply{}, r.Fail("fresh needs a system: a new image has no test %s.", test)
	}
	if in.Suspend {
		return Reply{}, r.Fail(nothingSuspended)
	}
	f, err := r.Session.Fresh(ctx, system, true, test, in)
	if err != nil {
		return Reply{}, err
	}
	boundWarnings(f.Result, r.Flag("verbose"), r.Spool)
	r.boundTestOutput(f.Tests, f.Result)
	return freshText(testsText(cmp.Or(test, system), f.Tests, f.Result, in), f), nil
}

// TestsText is what is said of all tests of a system in a fresh image where there is no
// session to compare with; warnings of others than the project's are left out.
func TestsText(system string, f *lisp.Fresh, in lisp.Request) string {
	f.Result.Warnings = slices.DeleteFunc(f.Result.Warnings, func(w lisp.Warning) bool { return w.System != "" })
	boundTestOutput(f.Tests, f.Result, nil)
	text := testsText(system, f.Tests, f.Result, in).Text
	for _, line := range missingLines(f) {
		text += "\n; " + render.Safe(line)
	}
	return text
}
