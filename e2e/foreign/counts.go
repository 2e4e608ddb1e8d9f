package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// answer is what a suite has come to in one Lisp.
type answer struct {
	outcome string   // "returned", or the type of the error
	counts  string   // to show
	said    []string // what it printed, without what differs each time
	fiveAM  *checks  // or nil
}

// checks are the counts of FiveAM, an error being a failure.
type checks struct{ all, passed, skipped, failed int }

func (c *checks) String() string {
	if c == nil {
		return "no checks"
	}
	return fmt.Sprintf("%d checks: %d passed, %d skipped, %d failed", c.all, c.passed, c.skipped, c.failed)
}

var (
	address  = regexp.MustCompile(`\{[0-9A-Fa-f]+\}|#X[0-9A-F]{8,}`)
	duration = regexp.MustCompile(`[0-9]+(\.[0-9]+)? ?(seconds?|milliseconds|microseconds|sec|ms|s)\b|Time: [0-9.]+`)
	memory   = regexp.MustCompile(`^[0-9A-F]{8,}: [0-9A-F]{16}`)      // DESCRIBE's dumps
	control  = regexp.MustCompile(`[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]`) // a reply shows them so
	blanks   = regexp.MustCompile(`\s+`)
	telling  = regexp.MustCompile(`(?i)\b[0-9]+ (\w+ ){0,4}(tests?|checks?|pass\w*|fail\w*|success\w*|errors?|skip\w*|assertions?)\b` +
		`|\b(tests?|checks?|passed|failed|failures?|success(es)?|errors?|skipped)( this test)?: ?[0-9]+` +
		`|\b(no|all) tests (failed|passed)|tests passed`)
	verdict = regexp.MustCompile(`(?i)\b(?:(passed|ok)|failed|fail)\b`)
)

// newAnswer is the answer of a suite that has printed text.
func newAnswer(outcome, text string) answer {
	a := answer{outcome: outcome, fiveAM: fiveAMChecks(text)}
	var counts []string
	passed, failed := 0, 0 // where each test is told
	for line := range strings.Lines(text) {
		line = control.ReplaceAllStringFunc(line, func(c string) string { return fmt.Sprintf("\\u{%X}", c[0]) })
		line = strings.TrimSpace(blanks.ReplaceAllString(duration.ReplaceAllString(address.ReplaceAllString(line, "{}"), "… s"), " "))
		if line == "" || line[0] == ';' || memory.MatchString(line) { // the compiler's remarks
			continue
		}
		a.said = append(a.said, line)
		if telling.MatchString(line) {
			counts = append(counts, line)
		}
		if m := verdict.FindStringSubmatch(line); m == nil {
			continue
		} else if m[1] != "" {
			passed++
		} else {
			failed++
		}
	}
	switch {
	case a.fiveAM != nil:
		a.counts = a.fiveAM.String()
	case passed >= 10:
		a.counts = fmt.Sprintf("%d lines: %d passed, %d failed", len(a.said), passed, failed)
	case len(counts) > 0:
		a.counts = strings.Join(counts[max(0, len(counts)-2):], "; ")
	default:
		a.counts = fmt.Sprintf("%d lines", len(a.said))
	}
	return a
}

var didChecks = regexp.MustCompile(`(Did|Pass:|Skip:|Fail:) ([0-9]+)`)

// fiveAMChecks adds up what FiveAM has printed of each of its runs.
func fiveAMChecks(text string) *checks {
	var c *checks
	for _, m := range didChecks.FindAllStringSubmatch(text, -1) {
		n, _ := strconv.Atoi(m[2])
		if m[1] == "Did" && c == nil {
			c = &checks{}
		}
		if c == nil {
			continue
		}
		switch m[1] {
		case "Did":
			c.all += n
		case "Pass:":
			c.passed += n
		case "Skip:":
			c.skipped += n
		case "Fail:":
			c.failed += n
		}
	}
	return c
}

var (
	summaryLine = regexp.MustCompile(`(?m)^\S+ \(FiveAM\): .*$`)
	summaryPart = regexp.MustCompile(`([0-9,]+) (checks?|passed|failed|with an error|skipped)`)
	errorType   = regexp.MustCompile(`(?m)^(?:\[ERROR\]|; Then) (?:\S+?:)?([^\s:]+)`)
)

// runTestsAnswer is what run-tests has replied.
func runTestsAnswer(text string, isError bool) answer {
	outcome := "returned"
	if m := errorType.FindStringSubmatch(text); m != nil && (isError || strings.HasPrefix(m[0], "; Then")) {
		outcome = m[1]
	}
	_, said, _ := strings.Cut(text, "[stdout]\n")
	for _, next := range []string{"\n\n[stderr]\n", "\n\n[warnings]\n", "\n\n=> "} {
		said, _, _ = strings.Cut(said, next)
	}
	a := newAnswer(outcome, said)
	if line := summaryLine.FindString(text); line != "" {
		c := &checks{}
		for _, m := range summaryPart.FindAllStringSubmatch(line, -1) {
			n, _ := strconv.Atoi(strings.ReplaceAll(m[1], ",", ""))
			switch m[2] {
			case "check", "checks":
				c.all = n
			case "passed":
				c.passed = n
			case "skipped":
				c.skipped = n
			default:
				c.failed += n
			}
		}
		if strings.HasSuffix(line, "all passed.") {
			c.passed = c.all
		}
		a.fiveAM, a.counts = c, c.String()
	}
	return a
}
