package lisp

import (
	"reflect"
	"testing"
)

// Only what both runs have recorded is compared: neither what a stopped run did not reach, nor
// what a long one did not keep.
func TestComparison(t *testing.T) {
	t.Parallel()
	run := testRun{system: "s"}
	ran := func(pairs ...string) *Tests {
		tests := &Tests{Begun: true, Tests: len(pairs) / 2}
		for i := 0; i < len(pairs); i += 2 {
			tests.Ran = append(tests.Ran, TestRan{Test: pairs[i], Status: pairs[i+1]})
		}
		return tests
	}
	long := ran("a", "passed")
	long.Tests = 5001
	ended, timeout := &Result{}, &Result{Failure: &Failure{Kind: KindTimeout}}
	failed := &Result{Failure: &Failure{Type: "SIMPLE-ERROR"}}
	type end struct {
		tests *Tests
		res   *Result
	}
	for name, c := range map[string]struct {
		before []end
		now    end
		want   Comparison
	}{
		"none":         {nil, end{ran("a", "passed"), ended}, Comparison{Whole: true}},
		"only stopped": {[]end{{ran("a", "passed"), timeout}}, end{ran("a", "passed"), ended}, Comparison{Cut: "TIMEOUT", Whole: true}},
		"equal":        {[]end{{ran("a", "passed"), ended}}, end{ran("a", "passed"), ended}, Comparison{Run: true, Whole: true, Same: 1}},
		"stopped later": {[]end{{ran("a", "passed"), ended}, {ran(), timeout}}, end{ran("a", "failed"), ended},
			Comparison{Run: true, Cut: "TIMEOUT", Whole: true, Changed: []TestChange{{"a", "passed", "failed"}}}},
		"whole again": {[]end{{ran(), timeout}, {ran("a", "passed"), ended}}, end{ran("a", "passed"), ended}, Comparison{Run: true, Whole: true, Same: 1}},
		"now stopped": {[]end{{ran("a", "passed", "b", "passed"), ended}}, end{ran("a", "passed"), timeout}, Comparison{Run: true, Same: 1, Unknown: 1}},
		"gone": {[]end{{ran("a", "passed", "b", "passed"), ended}}, end{ran("a", "passed"), ended},
			Comparison{Run: true, Whole: true, Same: 1, Changed: []TestChange{{"b", "passed", ""}}}},
		"long before": {[]end{{long, ended}}, end{ran("b", "passed"), ended},
			Comparison{Run: true, Whole: true, Unknown: 1, Changed: []TestChange{{"a", "passed", ""}}}},
		"an error": {[]end{{ran(), failed}}, end{ran(), ended}, Comparison{Run: true, Whole: true, Was: "SIMPLE-ERROR"}},
	} {
		var runs testRuns
		for _, e := range c.before {
			runs.note(run, e.tests, e.res)
		}
		record := runs.of("s", "")
		got := record.compare(c.now.tests, c.now.res)
		got.Is = ""
		if !reflect.DeepEqual(*got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, *got, c.want)
		}
	}
}
