package e2e

import (
	"io"
	"strings"
	"testing"
)

// An evaluation runs no longer than --limits wall says, whatever the client asks for.
func TestHTTPWallTime(t *testing.T) {
	t.Parallel()
	h := startHTTP(t, t.TempDir(), "--limits", "wall=2")
	h.wants("/s/a/mcp", "(defvar *v* 1)", "=> *V*")
	h.wants("/s/a/mcp", "(loop (sleep 0.1))", "[TIMEOUT] Evaluation exceeded 2 seconds…")
	if got := h.call("/s/a/mcp", "evaluate-lisp", object{"code": "1", "timeout": 3}); !matches("[ERROR] INVALID-ARGUMENTS\ntimeout is 3; it must be more than 0 and at most 2.…", got) {
		t.Errorf("a longer time: %s", got)
	}
	if got := h.call("/s/a/mcp", "evaluate-lisp", object{"code": "(loop (sleep 0.1))", "background": true}); !matches("job-1 runs in the background, for at most 2 s.…", got) {
		t.Errorf("in the background: %s", got)
	}
	if got := h.call("/s/a/mcp", "evaluate-lisp", object{"code": "(progn (sleep 3.5) *v*)", "timeout": 1, "on-timeout": "background"}); !matches("…It goes on as job-2, for at most 2 s.…", got) {
		t.Errorf("into the background: %s", got)
	}
	for _, job := range []string{"job-1", "job-2"} {
		if !eventually(patience, func() bool {
			return matches("…[TIMEOUT] Evaluation exceeded 2 seconds…", h.call("/s/a/mcp", "read-output", object{"handle": job}))
		}) {
			t.Errorf("%s is not stopped: %s", job, h.call("/s/a/mcp", "session-status", object{}))
		}
	}
	h.wants("/s/a/mcp", "*v*", "=> 1…")
}

// A principal that has used up the processor's time of an hour is stopped, and told when to
// come back; look-ups answer.
func TestHTTPProcessorTime(t *testing.T) {
	t.Parallel()
	h := startHTTP(t, t.TempDir(), "--limits", "cpu=3")
	h.wants("/s/a/mcp", "(defvar *v* 1)", "=> *V*")
	h.wants("/s/a/mcp", `(uiop:run-program "while :; do :; done")`, "[ERROR] LIMIT-REACHED\nYour sessions have used … seconds of the processor since …:…:…, and the limit is 3 in an hour. Send the same again in 3… seconds.…")
	resp, err := h.post(t.Context(), "/s/b/mcp", "tools/call", "evaluate-lisp", object{"name": "evaluate-lisp", "arguments": object{"code": "1"}})
	check(t, err)
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	if after := resp.Header.Get("Retry-After"); resp.StatusCode != 429 || len(after) != 4 || !strings.Contains(string(body), "Nothing was done. Send the same again in "+after+" seconds.") {
		t.Errorf("%d, after %q: %s", resp.StatusCode, after, body)
	}
	says(t, h.call("/s/a/mcp", "session-status", object{}), "Image: running")
}
