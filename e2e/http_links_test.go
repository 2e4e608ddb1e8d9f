package e2e

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

// shell has the code of a session run a program of the system's, and wants it to do so.
func (h *httpServer) shell(path, script string) {
	h.t.Helper()
	h.wants(path, fmt.Sprintf("(uiop:run-program %q :output :string :error-output :string)", script), "…=> \"\"…=> 0…")
}

// keptDir is where the server keeps what a session defines.
func (h *httpServer) keptDir(session string) string {
	return filepath.Join(h.state, "swank-mcp/http/sessions/owner/kept", session)
}

// What the code of a session puts into its directory leads the server nowhere: neither in the
// places where servers have kept things there, nor in those where they keep them. Its own
// definitions come back all the same.
func TestHTTPLinks(t *testing.T) {
	tier.More(t)
	t.Parallel()
	skipLaunchedOnly(t)
	state := t.TempDir()
	h := startHTTP(t, state)
	const one, two = "/s/one/mcp", "/s/two/mcp"
	h.wants(two, "(defun secret () :of-two)", "=> SECRET")
	h.keeps("two", "(defun secret ")
	h.wants(one, "(defun f () 1)", "=> F")
	h.keeps("one", "(defun f ")
	dir := h.dir("one")
	const read = `(handler-case (with-open-file (in %q) (read-line in)) (error () :refused))`
	h.wants(one, fmt.Sprintf(read, filepath.Join(h.keptDir("one"), "session.lisp")), "=> :REFUSED")
	h.wants(one, fmt.Sprintf(read, filepath.Join(h.keptDir("two"), "session.lisp")), "=> :REFUSED")
	for _, links := range [][2]string{
		{h.tokens(), filepath.Join(state, "made")},
		{filepath.Join(h.keptDir("two"), "session.lisp"), filepath.Join(h.keptDir("two"), "session.lisp.lock")},
	} {
		h.shell(one, fmt.Sprintf("cd %s && rm -f session* && ln -s %s session.lisp && ln -s %s session.lisp.lock", dir, links[0], links[1]))
		for range 2 { // the server that has seen the file before, and the next one
			for _, arguments := range []object{{}, {"file": "session.lisp"}} {
				got := h.call(one, "load-session", arguments)
				if strings.Contains(got, "Loaded: ") && !strings.Contains(got, h.keptDir("one")) {
					t.Errorf("load-session %v loads another file: %s", arguments, got)
				}
				if strings.Contains(got, h.token) {
					t.Errorf("load-session %v has the tokens: %s", arguments, got)
				}
			}
			h.wants(one, "(list (f) (fboundp 'secret))", "…=> (1 NIL)")
			h.end()
			h = startHTTP(t, state)
		}
	}
	if _, err := os.Lstat(filepath.Join(state, "made")); err == nil {
		t.Error("a link has made a file elsewhere")
	}
	h.shell(one, fmt.Sprintf("cd %s && rm -f session* && mkfifo session.lisp session.lisp.lock && touch lease.9223372036854775807 && mkfifo lease.5", dir))
	h.end()
	for _, arguments := range [][]string{nil, {"--lease", "1"}} {
		h = startHTTP(t, state, arguments...)
		h.wants(one, "(f)", "…=> 1")
		h.wants(two, "(secret)", "…=> :OF-TWO")
		h.end()
	}
}

// With --autosave, a link to the checkpoints of another session does not make them its own.
func TestHTTPLinkedCheckpoints(t *testing.T) {
	tier.More(t)
	t.Parallel()
	skipLaunchedOnly(t)
	state := t.TempDir()
	arguments := []string{"--autosave", "--no-checkpoints=false"}
	h := startHTTP(t, state, append(arguments, "--hibernate-after", "1")...)
	h.wants("/s/two/mcp", "(defvar *v* 0) (setf *v* :of-two)", "=> :OF-TWO")
	h.wants("/s/one/mcp", "(defvar *w* 1)", "=> *W*")
	dir, other := h.dir("one"), h.dir("two")
	if await.Until(func() bool {
		saved, _ := filepath.Glob(filepath.Join(other, ".swank-mcp", "[^.]*.json"))
		return len(saved) > 0
	}) != nil {
		t.Fatalf("nothing is saved in %s", other)
	}
	h.end()
	// As code of the session could do while it runs, and by other ways than a link.
	check(t, os.RemoveAll(filepath.Join(dir, ".swank-mcp")))
	check(t, os.Symlink(filepath.Join(other, ".swank-mcp"), filepath.Join(dir, ".swank-mcp")))
	h = startHTTP(t, state, arguments...)
	h.wants("/s/one/mcp", "(boundp '*v*)", "…=> NIL…")
	h.end()
	check(t, os.Remove(filepath.Join(dir, ".swank-mcp")))
	check(t, os.CopyFS(filepath.Join(dir, ".swank-mcp"), os.DirFS(filepath.Join(other, ".swank-mcp"))))
	h = startHTTP(t, state, arguments...)
	h.wants("/s/one/mcp", "(boundp '*v*)", "…=> NIL…")
	h.wants("/s/two/mcp", "*v*", "…=> :OF-TWO…")
}

// A session whose image that was started ahead was given up has its directory nonetheless.
func TestHTTPPoolGivesUp(t *testing.T) {
	t.Parallel()
	skipLaunchedOnly(t)
	h := startHTTP(t, t.TempDir(), "--pool", "1")
	begin := func(path string) {
		resp, err := h.post(t.Context(), path, "tools/list", "", object{})
		check(t, err)
		defer resp.Body.Close()
		if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != http.StatusOK {
			t.Fatal(resp.Status, err)
		}
	}
	h.awaitsAhead(1)
	begin("/s/one/mcp")
	h.awaitsAhead(2) // one is the session's, though it has not called for it
	dir := h.dir("one")
	begin("/s/two/mcp") // which is given the other, so the first is given up
	h.awaitsAhead(2)
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		t.Error("the directory that the session was given is gone")
	}
	h.wants("/s/one/mcp", fmt.Sprintf(`(with-open-file (out "%s/own" :direction :output) (print 42 out))`, dir), "=> 42")
	// Nor where somebody has tidied up before an image is started.
	begin("/s/three/mcp")
	begin("/s/four/mcp")
	dir = h.dir("two")
	check(t, os.RemoveAll(dir))
	h.wants("/s/two/mcp", fmt.Sprintf(`(with-open-file (out "%s/own" :direction :output) (print 42 out))`, dir), "=> 42")
}
