package http

import (
	"fmt"
	"strings"
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/await"
)

// The code of a session reaches no token, no other session's files or processes and no network,
// unless the server is told to have no sandbox.
func TestHTTPConfines(t *testing.T) {
	t.Parallel()
	harness.SkipLaunchedOnly(t)
	state := t.TempDir()
	const read = `(handler-case (with-open-file (in %q) (read-line in)) (error () :refused))`
	h := harness.StartHTTP(t, state, "--pool", "0")
	tokens := fmt.Sprintf(read, h.Tokens())
	h.Wants("/s/one/mcp", tokens, "=> :REFUSED")
	h.Wants("/s/one/mcp", "(defvar *v* 1)", "=> *V*")
	h.Wants("/s/two/mcp", fmt.Sprintf("(directory %q)", h.State+"/swank-mcp/http/**/*.*"), "=> (…two…)")
	h.Wants("/s/two/mcp", fmt.Sprintf(`(search "/one/" (princ-to-string (directory %q)))`, h.State+"/swank-mcp/http/**/*.*"), "=> NIL")
	other := httpPID(h, "/s/one/mcp")
	h.Wants("/s/two/mcp", fmt.Sprintf("(sb-alien:alien-funcall (sb-alien:extern-alien \"kill\" (function sb-alien:int sb-alien:int sb-alien:int)) %d 9)", other), "=> -1")
	h.Wants("/s/two/mcp", `(handler-case (progn (require :sb-bsd-sockets) (make-instance 'sb-bsd-sockets:inet-socket :type :stream :protocol :tcp)) (error () :refused))`, "=> :REFUSED")
	h.Wants("/s/one/mcp", "*v*", "=> 1")
	h.End()

	// Where the server keeps the tokens in the project, there is no server.
	cmd := await.Command(t, harness.Run.Binary, "serve", "--http", "127.0.0.1:0", "--no-userinit", "--no-checkpoints", "--project", state)
	cmd.Env = harness.Environ(harness.Run.Dir, "XDG_STATE_HOME="+state)
	out, err := cmd.CombinedOutput()
	want := state + " would be the session's to read and write, and " + h.Tokens() + " with it: name directories without that by --project and --session-dir"
	if err == nil || !strings.Contains(string(out), want) || harness.ServingAt.Match(out) {
		t.Errorf("%v, %s; want %s", err, out, want)
	}

	h = harness.StartHTTP(t, state, "--sandbox", "off")
	if got := h.Eval("/s/three/mcp", tokens); !strings.Contains(got, "owner") && !strings.Contains(got, "=> \"") {
		t.Errorf("without a sandbox the file is read: %s", got)
	}
}
