package http

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

// startTwo starts a server with a second principal, bert, and returns it once for each.
func startTwo(t *testing.T, args ...string) (owner, bert *harness.HTTPServer) {
	t.Helper()
	state := t.TempDir()
	dir := filepath.Join(state, "swank-mcp", "http")
	harness.Check(t, os.MkdirAll(dir, 0o700))
	token := strings.Repeat("b", 43)
	harness.Check(t, os.WriteFile(filepath.Join(dir, "tokens"), []byte("owner "+strings.Repeat("o", 43)+"\nbert "+token+"\n"), 0o600))
	owner = harness.StartHTTP(t, state, args...)
	return owner, &harness.HTTPServer{T: t, Url: owner.Url, State: state, Token: token, Client: owner.Client}
}

// A principal that has all images gives one up to another who has none: one in which a job runs,
// before those that answer calls. It is told which job was ended, and for whom; what it had
// defined comes back. Jobs have no more than their share from the beginning.
func TestHTTPShares(t *testing.T) {
	tier.More(t)
	t.Parallel()
	owner, bert := startTwo(t, "--max-images", "3", "--pool", "0")
	background := func(session string) string {
		t.Helper()
		return owner.Call("/s/"+session+"/mcp", "evaluate-lisp", harness.Object{"code": "(progn (defun f () 42) (loop (sleep 0.1)))", "background": true})
	}
	if got := background("a"); !harness.Matches("job-1 runs in the background…", got) {
		t.Fatal(got)
	}
	if got := background("b"); !harness.Matches("[ERROR] TOO-MANY-JOBS\nNothing was evaluated: Jobs of yours run in 1 of the 3 Lisp images that this server may have, which is the limit for each of its users. …", got) {
		t.Errorf("a second image for jobs: %s", got)
	}
	calls := []string{"/s/b/mcp", "/s/c/mcp"}
	answers := make(chan error, len(calls))
	running, stop := context.WithCancel(t.Context())
	defer stop()
	for _, path := range calls {
		go func() {
			resp, err := owner.Post(running, path, "tools/call", "evaluate-lisp", harness.Object{"name": "evaluate-lisp", "arguments": harness.Object{"code": "(loop (sleep 0.01))", "timeout": 600}})
			if err == nil {
				defer resp.Body.Close()
				_, err = io.ReadAll(resp.Body)
			}
			answers <- err
		}()
		await.True(t, "the call to run", func() bool {
			return strings.Contains(owner.Call(path, "session-status", harness.Object{}), "\nRunning for ")
		}, owner)
	}
	bert.Wants("/s/x/mcp", "(+ 1 2)", "=> 3")
	if len(answers) > 0 || owner.Metric("images") != 3 {
		t.Errorf("%d calls have ended, %d images run", len(answers), owner.Metric("images"))
	}
	stop()
	const whose = "another user of the server, who waited for one while you had 3 of the 3 images that may run"
	want := "…=> 42\n; The image was replaced, because the one before ended: it was put away for " + whose + ". Restored: …" +
		"\n; job-1 (…) was ended: Its image was put away for " + whose + ". Next: …"
	got := ""
	if await.Until(func() bool { got = owner.Eval("/s/a/mcp", "(f)"); return harness.Matches(want, got) }, owner) != nil {
		t.Errorf("whose job was ended is told\n%s\nwant\n%s", got, want)
	}
}
