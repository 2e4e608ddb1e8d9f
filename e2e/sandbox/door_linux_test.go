package sandbox

import (
	"os"
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/e2e/wire"
)

// door is one way in which calls come to a server.
type door struct {
	pid  int
	call func(tool string, args harness.Object) string // returns the text of the reply
}

// onStdio starts a server of the user's that is called on stdin.
func (o *outside) onStdio(t *testing.T, args ...string) door {
	t.Helper()
	s := o.serve(t, args...)
	return door{s.PID(), func(tool string, args harness.Object) string {
		t.Helper()
		return harness.Call(t, s, tool, args).Text()
	}}
}

// onHTTP starts a server of the user's that is called over HTTP, in one session. "session" is a link to
// the session's directory.
func (o *outside) onHTTP(t *testing.T) door {
	t.Helper()
	state := o.path("state")
	h := harness.StartHTTPWith(t, wire.Options{Env: append(o.env(), "XDG_STATE_HOME="+state), Dir: o.path("project")}, state,
		o.program(o.binary, "serve", "--http", "127.0.0.1:0", "--toolsets", "all", "--no-userinit", "--pool", "0", "--max-rate", "1000")...)
	d := door{h.Cmd.Process.Pid, func(tool string, args harness.Object) string {
		t.Helper()
		text, err := h.Tool("/s/one/mcp", tool, args)
		if err != nil {
			t.Fatalf("%s %.200v: %v", tool, args, err)
		}
		return text
	}}
	d.want(t, "(+ 1 2)", "=> 3")
	harness.Check(t, os.Symlink(h.Dir("one"), o.path("session")))
	return d
}

// want evaluates code, which must be answered so.
func (d door) want(t *testing.T, code, text string) {
	t.Helper()
	if got := d.call("evaluate-lisp", harness.Object{"code": code}); !harness.Fits(text, got) {
		t.Errorf("%s is answered\n%s\nwant\n%s", code, harness.Clip(got), text)
	}
}

// makeDirs makes directories of the user's.
func (o *outside) makeDirs(t *testing.T, names ...string) {
	t.Helper()
	for _, dir := range names {
		harness.Check(t, os.MkdirAll(o.path(dir), 0o700))
		o.owned(t, dir)
	}
}
