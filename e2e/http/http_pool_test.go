package http

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

// New sessions have an image that was started before them, with nothing in it, which is
// replaced for the next; the sandbox around it is theirs alone.
func TestHTTPPool(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	h := harness.StartHTTP(t, state)
	ahead := h.AwaitsAhead(2)
	one := httpPID(h, "/s/one/mcp")
	if !slices.Contains(ahead, one) {
		t.Errorf("the image %d of the first session is none of %d", one, ahead)
	}
	eval := h.Handshake()
	if got := eval(getpid); !slices.ContainsFunc(ahead, func(pid int) bool { return strings.Contains(got, fmt.Sprintf("=\\u003e %d", pid)) }) {
		t.Errorf("the image of a client with a handshake is none of %d: %s", ahead, got)
	}
	ahead = h.AwaitsAhead(2)
	if h.Metric("ahead_taken_total") != 2 || h.Metric("images") != 2 {
		t.Errorf("%d were taken, %d images run", h.Metric("ahead_taken_total"), h.Metric("images"))
	}

	// What the one has, the other has not.
	dir := h.Dir("one")
	h.Wants("/s/one/mcp", fmt.Sprintf(`(with-open-file (out "%s/own" :direction :output) (print 42 out))`, dir), "=> 42")
	h.Wants("/s/one/mcp", "(defvar *v* 1) (defun f () *v*)", "=> F")
	two := httpPID(h, "/s/two/mcp")
	if !slices.Contains(ahead, two) || two == one {
		t.Errorf("the image %d of the second session is none of %d", two, ahead)
	}
	if other := h.Dir("two"); other == dir {
		t.Errorf("both have %s", dir)
	}
	const try = `(handler-case (with-open-file (in %q :direction %s :if-exists :append) (if (input-stream-p in) (read in) :written)) (error () :refused))`
	for _, path := range []string{dir + "/own", filepath.Join(state, "swank-mcp/http/sessions/owner/named/one/own"), h.Tokens()} {
		h.Wants("/s/two/mcp", fmt.Sprintf(try, path, ":input"), "=> :REFUSED")
		h.Wants("/s/two/mcp", fmt.Sprintf(try, path, ":output"), "=> :REFUSED")
	}
	h.Wants("/s/two/mcp", "(list (boundp '*v*) (fboundp 'f))", "=> (NIL NIL)")
	h.Wants("/s/two/mcp", fmt.Sprintf("(length (directory %q))", filepath.Dir(dir)+"/*/"), "=> 1")
	h.Keeps("one", "(defun f ")
	h.End()

	// The directory is the session's for good.
	h = harness.StartHTTP(t, state, "--pool", "0")
	h.Wants("/s/one/mcp", fmt.Sprintf(`(list (f) (with-open-file (in "%s/own") (read in)))`, dir), "…2 definitions…=> (1 42)")
	if h.Dir("one") != dir {
		t.Errorf("it is %s now, and was %s", h.Dir("one"), dir)
	}
}

// What was started ahead wakes sessions at /mcp, is replaced when it dies, gives way where there
// is no room, and leaves nothing behind.
func TestHTTPPoolBounds(t *testing.T) {
	tier.More(t)
	t.Parallel()
	state := t.TempDir()
	h := harness.StartHTTP(t, state, "--max-images", "2", "--hibernate-after", "5", "--autosave", "--no-checkpoints=false")
	ahead := h.AwaitsAhead(2)
	for _, pid := range ahead {
		if strings.Contains(harness.Command(pid), "sbcl") {
			harness.Check(t, syscall.Kill(pid, syscall.SIGKILL))
		}
	}
	if await.Until(func() bool { return h.Metric("ahead_failed_total") == 2 }) != nil {
		t.Errorf("%d have failed", h.Metric("ahead_failed_total"))
	}
	h.AwaitsAhead(2)
	h.Wants("/s/n/mcp", "(defvar *v* (list 1)) (push 2 *v*)", "=> (2 1)")
	h.AwaitsAhead(1) // there is room for one more
	eval := h.Handshake()
	if got := eval("(defun twice (x) (* 2 x))"); !strings.Contains(got, "TWICE") {
		t.Error(got)
	}
	if await.Until(func() bool { return h.Metric("hibernated_total") == 2 }) != nil {
		t.Fatal("the images are not put away")
	}
	h.AwaitsAhead(2)
	taken := h.Metric("ahead_taken_total")
	if got := eval("(twice 21)"); !strings.Contains(got, "=\\u003e 42") || !strings.Contains(got, "put away") {
		t.Error(got)
	}
	if n := h.Metric("ahead_taken_total"); n != taken+1 {
		t.Errorf("it was taken %d times, before that %d", n, taken)
	}
	h.Wants("/s/n/mcp", "*v*", "=> (2 1)\n; The image was replaced…with all values.…")
	h.End()
	if left, err := os.ReadDir(filepath.Join(state, "swank-mcp/http/slots")); err != nil || len(left) != 1 {
		t.Errorf("there are %v, %v; one is a session's", left, err)
	}
}

// Servers that share a directory give their sessions images that were started ahead, and the
// next owner of such a session has its definitions and its directory.
func TestHTTPPoolShared(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	// The kernel says that the first has been killed. For one that is only slow there is time.
	first := harness.StartHTTP(t, state, "--lease", "10")
	second := harness.StartHTTP(t, state, "--lease", "10")
	ahead := first.AwaitsAhead(2)
	second.AwaitsAhead(2)
	if pid := httpPID(first, "/s/n/mcp"); !slices.Contains(ahead, pid) {
		t.Errorf("the image %d is none of %d", pid, ahead)
	}
	dir := first.Dir("n")
	first.Wants("/s/n/mcp", fmt.Sprintf(`(defun f () (with-open-file (in "%s/own") (read in)))`, dir), "=> F")
	first.Wants("/s/n/mcp", fmt.Sprintf(`(with-open-file (out "%s/own" :direction :output) (print 42 out))`, dir), "=> 42")
	harness.Check(t, first.Cmd.Process.Kill())
	<-first.Ended
	second.Wants("/s/n/mcp", "(f)", "…1 definition…=> 42")
	if got := second.Dir("n"); got != dir {
		t.Errorf("it is %s now, and was %s", got, dir)
	}
	other := second.AwaitsAhead(2)
	if pid := httpPID(second, "/s/m/mcp"); !slices.Contains(other, pid) {
		t.Errorf("the image %d is none of %d", pid, other)
	}
}
