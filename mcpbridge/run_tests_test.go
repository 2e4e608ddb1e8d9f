package mcpbridge

import "testing"

func TestRunTestsReplies(t *testing.T) {
	p := serve(t, Options{}).handshake()
	failures := "\n\nFAILED T1\n  (= 1 2)\n  1 is not 2\n  in /t.lisp:3\n\n; 1 more failure"
	for _, c := range []struct {
		args, want string
		failed     bool
	}{
		{`{"system":"good"}`, "good (Rove): 1 test, 2 checks, all passed.", false},
		{`{"system-name":"#:good"}`, "good (Rove): 1 test, 2 checks, all passed.", false},
		{`{"test":"failing"}`, "failing (FiveAM): 2 tests, 6 checks: 3 passed, 1 failed, 1 with an error, 1 skipped." +
			failures + "\n\n[stdout]\nnoise", false},
		{`{"name":"signals"}`, "signals (FiveAM): 2 tests, 6 checks: 3 passed, 1 failed, 1 with an error, 1 skipped." +
			failures + "\n\n; Then SIMPLE-ERROR: tests failed", false},
		{`{"system":"broken"}`, "[ERROR] SIMPLE-ERROR\ntests\nfailed", true},
		{`{"system":"slow","timeout":2}`, "[TIMEOUT] Evaluation exceeded 2 seconds\n" +
			"Before that: slow (FiveAM): 2 tests, 6 checks: 3 passed, 1 failed, 1 with an error, 1 skipped.\n" + failures, true},
		{`{"system":"plain"}`, "plain has run to its end. No results of FiveAM, Rove or Parachute were seen; " +
			"what it printed is all there is.\n\n[stdout]\nall fine", false},
	} {
		if a := p.call("run-tests", c.args); a.Result.IsError != c.failed || a.text() != c.want {
			t.Errorf("run-tests %s answered (isError %v)\n%s\nwant\n%s", c.args, a.Result.IsError, a.text(), c.want)
		}
	}
}
