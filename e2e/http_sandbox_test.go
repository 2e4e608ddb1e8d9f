package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// The code of a session reaches no token, no other session's files or processes and no network,
// unless the server is told to have no sandbox.
func TestHTTPConfines(t *testing.T) {
	t.Parallel()
	skipLaunchedOnly(t)
	state := t.TempDir()
	const read = `(handler-case (with-open-file (in %q) (read-line in)) (error () :refused))`
	h := startHTTP(t, state, "--pool", "0")
	tokens := fmt.Sprintf(read, h.tokens())
	h.wants("/s/one/mcp", tokens, "=> :REFUSED")
	h.wants("/s/one/mcp", "(defvar *v* 1)", "=> *V*")
	h.wants("/s/two/mcp", fmt.Sprintf("(directory %q)", h.state+"/swank-mcp/http/**/*.*"), "=> (…two…)")
	h.wants("/s/two/mcp", fmt.Sprintf(`(search "/one/" (princ-to-string (directory %q)))`, h.state+"/swank-mcp/http/**/*.*"), "=> NIL")
	other := httpPID(h, "/s/one/mcp")
	h.wants("/s/two/mcp", fmt.Sprintf("(sb-alien:alien-funcall (sb-alien:extern-alien \"kill\" (function sb-alien:int sb-alien:int sb-alien:int)) %d 9)", other), "=> -1")
	h.wants("/s/two/mcp", `(handler-case (progn (require :sb-bsd-sockets) (make-instance 'sb-bsd-sockets:inet-socket :type :stream :protocol :tcp)) (error () :refused))`, "=> :REFUSED")
	h.wants("/s/one/mcp", "*v*", "=> 1")
	h.end()

	h = startHTTP(t, state, "--project", state) // the server keeps the tokens in it
	h.wants("/s/four/mcp", "(+ 1 2)", "[ERROR] NO-IMAGE\nno image is started in the sandbox: …"+h.tokens()+"…")
	h.end()

	h = startHTTP(t, state, "--sandbox", "off")
	if got := h.eval("/s/three/mcp", tokens); !strings.Contains(got, "owner") && !strings.Contains(got, "=> \"") {
		t.Errorf("without a sandbox the file is read: %s", got)
	}
}
