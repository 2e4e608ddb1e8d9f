package tools

import (
	"strings"
	"testing"
	"time"

	"swank-mcp/mcpbridge/args"
	"swank-mcp/swank/lisp"
)

// testLimits are those of a server without flags.
var testLimits = Limits{Timeout: 30 * time.Second, MaxTimeout: 600 * time.Second, MaxOutput: 40_000}

func TestEvaluateArguments(t *testing.T) {
	timeout := func(d time.Duration) func(lisp.Request) bool {
		return func(in lisp.Request) bool { return in.Timeout == d }
	}
	tests := []struct {
		raw  string
		want func(lisp.Request) bool // nil: refused
		err  string
	}{
		{`{"code":"1"}`, func(in lisp.Request) bool {
			return in.Code == "1" && in.Package == "" && in.Timeout == 30*time.Second && in.Debug == 1 && !in.Timed
		}, ""},
		{`{"code":"1","package":null,"timeout":null}`, timeout(30 * time.Second), ""},
		{`{"code":"1","package":"app"}`, func(in lisp.Request) bool { return in.Package == "app" }, ""},
		{`{"code":"1","timeout":5}`, timeout(5 * time.Second), ""},
		{`{"code":"1","timeout":0.25}`, timeout(250 * time.Millisecond), ""},
		{`{"code":"1","timeout":"5"}`, timeout(5 * time.Second), ""},
		{`{"code":"1","timeout":" 1.5 "}`, timeout(1500 * time.Millisecond), ""},
		{`{"code":"1","timeout":600}`, timeout(10 * time.Minute), ""},
		{`{"code":"1","timeout_seconds":7}`, timeout(7 * time.Second), ""},
		{`{"code":"1","timeout-seconds":7}`, timeout(7 * time.Second), ""},
		{`{"code":"1","timeout_ms":1500}`, timeout(1500 * time.Millisecond), ""},
		{`{"code":"1","timeout_ms":"250"}`, timeout(250 * time.Millisecond), ""},
		{`{"code":"1","capture-time":true}`, func(in lisp.Request) bool { return in.Timed }, ""},
		{`{"code":"1","capture_time":"true"}`, func(in lisp.Request) bool { return in.Timed }, ""},
		{`{"code":"1","capture-time":"False"}`, func(in lisp.Request) bool { return !in.Timed }, ""},
		{`{"code":"1","debug":3}`, func(in lisp.Request) bool { return in.Debug == 3 }, ""},
		{`{"code":"1","debug":"0"}`, func(in lisp.Request) bool { return in.Debug == 0 }, ""},
		{`{"code":"1","debug":2.0}`, func(in lisp.Request) bool { return in.Debug == 2 }, ""},
		{`{"code":"1","on-error":"report"}`, func(in lisp.Request) bool { return !in.Suspend }, ""},
		{`{"code":"1","on_error":"DEBUG"}`, func(in lisp.Request) bool { return in.Suspend }, ""},
		{`{"code":"1","on_error":"REPORT"}`, func(in lisp.Request) bool { return true }, ""},
		{`{"\u0063ode":"λ"}`, func(in lisp.Request) bool { return in.Code == "λ" }, ""},
		{`{"code":"\ud800"}`, nil, `code has the lone surrogate \ud800`},
		{`{"code":"1","code":"2"}`, func(in lisp.Request) bool { return in.Code == "2" }, ""},

		{``, nil, `needs the argument "code"`},
		{`{}`, nil, `needs the argument "code"`},
		{`{"code":null}`, nil, `needs the argument "code"`},
		{`{"code":42}`, nil, "code must be a string, not the number 42"},
		{`{"code":["(+ 1 2)"]}`, nil, `code must be a string, not the array ["(+ 1 2)"]`},
		{`["(+ 1 2)"]`, nil, "as a JSON object, not the array"},
		{`"(+ 1 2)"`, nil, `as a JSON object, not the string "(+ 1 2)"`},
		{`{"form":"1"}`, nil, `has no argument "form". Valid: code, package, timeout, on-error, input, background, on-timeout, trial, capture-time, debug.`},
		{`{"code":"1","packge":"x"}`, nil, `has no argument "packge". Nearest: "package"`},
		{`{"code":"1","time":1}`, nil, `Nearest: "timeout"`},
		{`{"code":"1","timeout":0}`, nil, "timeout is 0; it must be more than 0 and at most 600"},
		{`{"code":"1","timeout":-1}`, nil, "timeout is -1;"},
		{`{"code":"1","timeout":601}`, nil, "timeout is 601;"},
		{`{"code":"1","timeout":1e999}`, nil, "timeout must be a number, not the number 1e999"},
		{`{"code":"1","timeout":"soon"}`, nil, `timeout must be a number, not the string "soon"`},
		{`{"code":"1","timeout":"NaN"}`, nil, "timeout must be a number"},
		{`{"code":"1","timeout_ms":700000}`, nil, "timeout is 700;"},
		{`{"code":"1","timeout_ms":"x"}`, nil, "timeout must be a number"},
		{`{"code":"1","timeout":5,"timeout_ms":5000}`, nil, `given timeout twice, as "timeout" and "timeout_ms"`},
		{`{"code":"1","capture-time":1}`, nil, "capture-time must be true or false, not the number 1"},
		{`{"code":"1","debug":4}`, nil, "debug is 4; it must be from 0 to 3"},
		{`{"code":"1","debug":1.5}`, nil, "debug is 1.5; it must be a whole number"},
		{`{"code":"1","debug":true}`, nil, "debug must be a number, not the boolean true"},
		{`{"code":"1","on-error":"abort"}`, nil, `on-error is "abort"; valid: report, debug.`},
	}
	for _, tt := range tests {
		r := &Request{Args: args.Parse(evaluateTool.Spec(testLimits), []byte(tt.raw))}
		in := readEvaluate(r)
		switch {
		case tt.want == nil && r.Err == nil:
			t.Errorf("%s: accepted, want %q", tt.raw, tt.err)
		case tt.want == nil && !strings.Contains(r.Err.Error(), tt.err):
			t.Errorf("%s: error %q, want %q", tt.raw, r.Err, tt.err)
		case tt.want != nil && r.Err != nil:
			t.Errorf("%s: refused: %v", tt.raw, r.Err)
		case tt.want != nil && !tt.want(in):
			t.Errorf("%s: got %+v", tt.raw, in)
		}
	}
}
