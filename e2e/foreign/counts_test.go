package main

import (
	"reflect"
	"strings"
	"testing"
)

// What frameworks print of themselves, as plain SBCL shows it.
func TestCounts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, counts string
		said         int
	}{
		{"Doing 2 pending tests of 2 tests total.\n A.1 B.2\nNo tests failed.\n", "Doing 2 pending tests of 2 tests total.; No tests failed.", 3},
		{" Did 3 checks.\n    Pass: 2 (66%)\n    Skip: 0 ( 0%)\n    Fail: 1 (33%)\n Did 1 check.\n    Pass: 1 (100%)\n", "4 checks: 3 passed, 0 skipped, 1 failed", 6},
		{"Errors detected in this test: 0\nSuccesses this test:128", "Errors detected in this test: 0; Successes this test:128", 2},
		{"; compiling file\n.....\n\n", "1 lines", 1},
		{strings.Repeat("A.1 passed\n", 10) + "B failed", "11 lines: 10 passed, 1 failed", 11},
		{"All tests passed.", "All tests passed.", 1},
	} {
		if a := newAnswer("returned", c.text); a.counts != c.counts || len(a.said) != c.said {
			t.Errorf("%q: %q, %q", c.text, a.counts, a.said)
		}
	}
	a, b := newAnswer("returned", "took 0.5 seconds: #<A {1002}>\nTime: 0.5"), newAnswer("returned", "took 12 s: #<A {1003ab}>\nTime: 12")
	if !reflect.DeepEqual(a.said, b.said) {
		t.Errorf("%q is not %q", a.said, b.said)
	}
}

// What run-tests says of FiveAM is held against what FiveAM prints.
func TestRunTestsAnswer(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]checks{
		"a (FiveAM): 2 tests, 1,016 checks, all passed.\n":                                     {1016, 1016, 0, 0},
		"a (FiveAM): 2 tests, 9 checks: 5 passed, 1 failed, 2 with an error, 1 skipped.\nrest": {9, 5, 1, 3},
	} {
		if a := runTestsAnswer(text, false); a.fiveAM == nil || *a.fiveAM != want || a.outcome != "returned" {
			t.Errorf("%q: %+v", text, a)
		}
	}
	for text, want := range map[string]string{
		"[ERROR] ASDF:MISSING-DEPENDENCY\nComponent x": "MISSING-DEPENDENCY",
		"[ERROR] FILE-ERROR\nno":                       "FILE-ERROR",
	} {
		if a := runTestsAnswer(text, true); a.outcome != want {
			t.Errorf("%q: %q", text, a.outcome)
		}
	}
	a := runTestsAnswer("x: the outcome is not known.\n\n[stdout]\nNo tests failed.\n\n[warnings]\nWARNING: 3 tests\n\n; Then SIMPLE-ERROR: x", false)
	if a.outcome != "SIMPLE-ERROR" || len(a.said) != 1 {
		t.Errorf("%+v", a)
	}
}
