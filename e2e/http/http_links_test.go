package http

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

// What the code of a session puts into its directory leads the server nowhere: neither in the
// places where servers have kept things there, nor in those where they keep them. Its own
// definitions come back all the same.
func TestHTTPLinks(t *testing.T) {
	tier.More(t)
	t.Parallel()
	harness.SkipLaunchedOnly(t)
	state := t.TempDir()
	h := harness.StartHTTP(t, state)
	const one, two = "/s/one/mcp", "/s/two/mcp"
	h.Wants(two, "(defun secret () :of-two)", "=> SECRET")
	h.Keeps("two", "(defun secret ")
	h.Wants(one, "(defun f () 1)", "=> F")
	h.Keeps("one", "(defun f ")
	dir := h.Dir("one")
	const read = `(handler-case (with-open-file (in %q) (read-line in)) (error () :refused))`
	h.Wants(one, fmt.Sprintf(read, filepath.Join(h.KeptDir("one"), "session.lisp")), "=> :REFUSED")
	h.Wants(one, fmt.Sprintf(read, filepath.Join(h.KeptDir("two"), "session.lisp")), "=> :REFUSED")
	for _, links := range [][2]string{
		{h.Tokens(), filepath.Join(state, "made")},
		{filepath.Join(h.KeptDir("two"), "session.lisp"), filepath.Join(h.KeptDir("two"), "session.lisp.lock")},
	} {
		h.Shell(one, fmt.Sprintf("cd %s && rm -f session* && ln -s %s session.lisp && ln -s %s session.lisp.lock", dir, links[0], links[1]))
		for range 2 { // the server that has seen the file before, and the next one
			for _, arguments := range []harness.Object{{}, {"file": "session.lisp"}} {
				got := h.Call(one, "load-session", arguments)
				if strings.Contains(got, "Loaded: ") && !strings.Contains(got, h.KeptDir("one")) {
					t.Errorf("load-session %v loads another file: %s", arguments, got)
				}
				if strings.Contains(got, h.Token) {
					t.Errorf("load-session %v has the tokens: %s", arguments, got)
				}
			}
			h.Wants(one, "(list (f) (fboundp 'secret))", "…=> (1 NIL)")
			h.End()
			h = harness.StartHTTP(t, state)
		}
	}
	if _, err := os.Lstat(filepath.Join(state, "made")); err == nil {
		t.Error("a link has made a file elsewhere")
	}
	h.Shell(one, fmt.Sprintf("cd %s && rm -f session* && mkfifo session.lisp session.lisp.lock && touch lease.9223372036854775807 && mkfifo lease.5", dir))
	h.End()
	for _, arguments := range [][]string{nil, {"--lease", "1"}} {
		h = harness.StartHTTP(t, state, arguments...)
		h.Wants(one, "(f)", "…=> 1")
		h.Wants(two, "(secret)", "…=> :OF-TWO")
		h.End()
	}
}

// With --autosave, a link to the checkpoints of another session does not make them its own.
func TestHTTPLinkedCheckpoints(t *testing.T) {
	tier.More(t)
	t.Parallel()
	harness.SkipLaunchedOnly(t)
	state := t.TempDir()
	arguments := []string{"--autosave", "--no-checkpoints=false"}
	h := harness.StartHTTP(t, state, append(arguments, "--hibernate-after", "1")...)
	h.Wants("/s/two/mcp", "(defvar *v* 0) (setf *v* :of-two)", "=> :OF-TWO")
	h.Wants("/s/one/mcp", "(defvar *w* 1)", "=> *W*")
	dir, other := h.Dir("one"), h.Dir("two")
	if await.Until(func() bool {
		saved, _ := filepath.Glob(filepath.Join(other, ".swank-mcp", "[^.]*.json"))
		return len(saved) > 0
	}) != nil {
		t.Fatalf("nothing is saved in %s", other)
	}
	h.End()
	// As code of the session could do while it runs, and by other ways than a link.
	harness.Check(t, os.RemoveAll(filepath.Join(dir, ".swank-mcp")))
	harness.Check(t, os.Symlink(filepath.Join(other, ".swank-mcp"), filepath.Join(dir, ".swank-mcp")))
	h = harness.StartHTTP(t, state, arguments...)
	h.Wants("/s/one/mcp", "(boundp '*v*)", "…=> NIL…")
	h.End()
	harness.Check(t, os.Remove(filepath.Join(dir, ".swank-mcp")))
	harness.Check(t, os.CopyFS(filepath.Join(dir, ".swank-mcp"), os.DirFS(filepath.Join(other, ".swank-mcp"))))
	h = harness.StartHTTP(t, state, arguments...)
	h.Wants("/s/one/mcp", "(boundp '*v*)", "…=> NIL…")
	h.Wants("/s/two/mcp", "*v*", "…=> :OF-TWO…")
}

// A session whose image that was started ahead was given up has its directory nonetheless.
func TestHTTPPoolGivesUp(t *testing.T) {
	t.Parallel()
	harness.SkipLaunchedOnly(t)
	h := harness.StartHTTP(t, t.TempDir(), "--pool", "1")
	begin := func(path string) {
		resp, err := h.Post(t.Context(), path, "tools/list", "", harness.Object{})
		harness.Check(t, err)
		defer resp.Body.Close()
		if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != http.StatusOK {
			t.Fatal(resp.Status, err)
		}
	}
	h.AwaitsAhead(1)
	begin("/s/one/mcp")
	h.AwaitsAhead(2) // one is the session's, though it has not called for it
	dir := h.Dir("one")
	begin("/s/two/mcp") // which is given the other, so the first is given up
	h.AwaitsAhead(2)
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		t.Error("the directory that the session was given is gone")
	}
	h.Wants("/s/one/mcp", fmt.Sprintf(`(with-open-file (out "%s/own" :direction :output) (print 42 out))`, dir), "=> 42")
	// Nor where somebody has tidied up before an image is started.
	begin("/s/three/mcp")
	begin("/s/four/mcp")
	dir = h.Dir("two")
	harness.Check(t, os.RemoveAll(dir))
	h.Wants("/s/two/mcp", fmt.Sprintf(`(with-open-file (out "%s/own" :direction :output) (print 42 out))`, dir), "=> 42")
}
