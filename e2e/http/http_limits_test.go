package http

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

// An evaluation runs no longer than --limits wall says, whatever the client asks for.
func TestHTTPWallTime(t *testing.T) {
	tier.More(t)
	t.Parallel()
	h := harness.StartHTTP(t, t.TempDir(), "--limits", "wall=2")
	h.Wants("/s/a/mcp", "(defvar *v* 1)", "=> *V*")
	h.Wants("/s/a/mcp", "(loop (sleep 0.1))", "[TIMEOUT] Evaluation exceeded 2 seconds…")
	if got := h.Call("/s/a/mcp", "evaluate-lisp", harness.Object{"code": "1", "timeout": 3}); !harness.Matches("[ERROR] INVALID-ARGUMENTS\ntimeout is 3; it must be more than 0 and at most 2.…", got) {
		t.Errorf("a longer time: %s", got)
	}
	if got := h.Call("/s/a/mcp", "evaluate-lisp", harness.Object{"code": "(loop (sleep 0.1))", "background": true}); !harness.Matches("job-1 runs in the background, for at most 2 s.…", got) {
		t.Errorf("in the background: %s", got)
	}
	if got := h.Call("/s/a/mcp", "evaluate-lisp", harness.Object{"code": "(progn (sleep 100) *v*)", "timeout": 1, "on-timeout": "background"}); !harness.Matches("…It goes on as job-2, for at most 2 s.…", got) {
		t.Errorf("into the background: %s", got)
	}
	for _, job := range []string{"job-1", "job-2"} {
		if await.Until(func() bool {
			return harness.Matches("…[TIMEOUT] Evaluation exceeded 2 seconds…", h.Call("/s/a/mcp", "read-output", harness.Object{"handle": job}))
		}) != nil {
			t.Errorf("%s is not stopped: %s", job, h.Call("/s/a/mcp", "session-status", harness.Object{}))
		}
	}
	h.Wants("/s/a/mcp", "*v*", "=> 1…")
}

// A principal that has used up the processor's time of an hour is stopped, and told when to
// come back; look-ups answer.
func TestHTTPProcessorTime(t *testing.T) {
	tier.More(t)
	t.Parallel()
	h := harness.StartHTTP(t, t.TempDir(), "--limits", "cpu=3")
	h.Wants("/s/a/mcp", "(defvar *v* 1)", "=> *V*")
	// Its own time limit is far off: how long a machine takes for three seconds of a processor is not judged.
	spent := h.Call("/s/a/mcp", "evaluate-lisp", harness.Object{"code": `(uiop:run-program "while :; do :; done")`, "timeout": await.Ceiling.Seconds()})
	if want := "[ERROR] LIMIT-REACHED\nYour sessions have used … seconds of the processor since …:…:…, and the limit is 3 in an hour. Send the same again in 3… seconds.…"; !harness.Matches(want, spent) {
		t.Errorf("it is answered\n%s\nwant\n%s", spent, want)
	}
	resp, err := h.Post(t.Context(), "/s/b/mcp", "tools/call", "evaluate-lisp", harness.Object{"name": "evaluate-lisp", "arguments": harness.Object{"code": "1"}})
	harness.Check(t, err)
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	if after := resp.Header.Get("Retry-After"); resp.StatusCode != 429 || len(after) != 4 || !strings.Contains(string(body), "Nothing was done. Send the same again in "+after+" seconds.") {
		t.Errorf("%d, after %q: %s", resp.StatusCode, after, body)
	}
	harness.Says(t, h.Call("/s/a/mcp", "session-status", harness.Object{}), "Image: running", "; no more than cpu=3")
	show := await.Command(t, harness.Run.Binary, "sessions", "--http", strings.TrimPrefix(h.Url, "http://"), "show", "owner/a")
	show.Env = harness.Environ(harness.Run.Dir, "XDG_STATE_HOME="+h.State)
	out, err := show.CombinedOutput()
	harness.Check(t, err)
	if !harness.Matches("…\nThis hour  … of 3 seconds of the processor, until 20…, with all other sessions of the principal", string(out)) {
		t.Errorf("show: %s", out)
	}
}

// Code of a session whose files have more than --limits disk says can make none longer, until
// it has deleted some. Its replies say so, and no other session meets it.
func TestHTTPDisk(t *testing.T) {
	tier.More(t)
	t.Parallel()
	state := t.TempDir()
	h := harness.StartHTTP(t, state, "--limits", "disk=20")
	dirOf := func(session string) string { // which can have been made before the session had a name
		dir, err := filepath.EvalSymlinks(filepath.Join(state, "swank-mcp", "http", "sessions", "owner", "named", session))
		harness.Check(t, err)
		return dir
	}
	h.Wants("/s/a/mcp", "(defvar *v* 1)", "=> *V*")
	h.Wants("/s/b/mcp", "(+ 1 2)", "=> 3")
	dir := dirOf("a")
	write := func(name string, mb int) string {
		return fmt.Sprintf(`(handler-case (with-open-file (out "%s/%s" :direction :output :if-exists :append :if-does-not-exist :create)
		  (let ((text (make-string 1000000 :initial-element #\x))) (loop repeat %d do (write-string text out) (finish-output out)) :all))
		  (stream-error () :refused))`, dir, name, mb)
	}
	const full = "; This session has … MB of files on the server's disk, and its limit is 20. Code can make no file longer until some are deleted, as by delete-file. That is seen at the next call."
	h.Wants("/s/a/mcp", write("one", 5), "=> :ALL")
	h.Wants("/s/a/mcp", write("long", 25), "…=> :REFUSED")
	h.Wants("/s/a/mcp", `(delete-file "`+dir+`/long")`, "…")
	h.Wants("/s/a/mcp", write("two", 19), "…=> …") // how far it comes is up to when it is seen
	if await.Until(func() bool { return harness.Matches(full+"\n\n=> :REFUSED", h.Eval("/s/a/mcp", write("three", 1))) }) != nil {
		t.Errorf("over the limit: %s", h.Eval("/s/a/mcp", write("three", 1)))
	}
	// What stays possible, and what is refused with it.
	h.Wants("/s/a/mcp", `(uiop:run-program "echo no > `+dir+`/four" :ignore-error-status t :output nil) (with-open-file (in "`+dir+`/four" :if-does-not-exist nil) (if in (file-length in) 0))`, full+"\n\n=> 0")
	h.Wants("/s/a/mcp", "*v*", full+"\n\n=> 1")
	h.Wants("/s/b/mcp", strings.ReplaceAll(write("one", 1), dir, dirOf("b")), "=> :ALL")
	h.Wants("/s/a/mcp", `(delete-file "`+dir+`/two")`, full+"\n\n=> …")
	h.Wants("/s/a/mcp", write("three", 1), "=> :ALL")
	h.Wants("/s/a/mcp", "*v*", "=> 1")

	// A server that finds it full has it so, too, and images that are started then.
	h.Wants("/s/a/mcp", write("two", 19), "…=> …")
	h.End()
	h = harness.StartHTTP(t, state, "--limits", "disk=20")
	h.Wants("/s/a/mcp", write("three", 1), "…and its limit is 20…=> :REFUSED")
	// Empty files can still be made, and are too many at last. Others can delete them.
	h.Wants("/s/a/mcp", fmt.Sprintf(`(dotimes (i 4000) (close (open (format nil "%s/e~d" i) :direction :output)))`, dir), "…")
	full429 := func() bool {
		resp, err := h.Post(t.Context(), "/s/a/mcp", "tools/call", "evaluate-lisp", harness.Object{"name": "evaluate-lisp", "arguments": harness.Object{"code": "1"}})
		harness.Check(t, err)
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body)
		return resp.StatusCode == 429 && resp.Header.Get("Retry-After") == "60" &&
			harness.Matches("…This session has … MB of files on the server's disk, and its limit is 20. It has made more in spite of that. Nothing was done. Send the same again in 60 seconds, after whoever runs the server has deleted some, in "+dir+"…", string(body))
	}
	if await.Until(full429) != nil {
		t.Errorf("files in spite of the limit: %s", h.Eval("/s/a/mcp", "1"))
	}
	harness.Says(t, h.Call("/s/a/mcp", "session-status", harness.Object{}), "Image: ", "; no more than disk=20")
	files, err := filepath.Glob(filepath.Join(dir, "[te]*"))
	harness.Check(t, err)
	for _, file := range files {
		harness.Check(t, os.Remove(file))
	}
	h.Wants("/s/a/mcp", "*v*", "…=> 1…")
}
