package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

// metric is a number of the server's page for Prometheus.
func (h *httpServer) metric(name string) int {
	h.t.Helper()
	r, err := http.NewRequest("GET", h.url+"/metrics", nil)
	check(h.t, err)
	r.Header.Set("Authorization", "Bearer "+h.token)
	resp, err := h.client.Do(r)
	check(h.t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	check(h.t, err)
	m := regexp.MustCompile(`(?m)^swank_mcp_` + name + ` (\d+)$`).FindSubmatch(body)
	if m == nil {
		h.t.Fatalf("no %s in\n%s", name, body)
	}
	n, _ := strconv.Atoi(string(m[1]))
	return n
}

// awaitsAhead waits until so many images wait for sessions, and returns all processes of the
// server's.
func (h *httpServer) awaitsAhead(n int) []int {
	h.t.Helper()
	if await.Until(func() bool { return h.metric("images_ahead") == n }) != nil {
		h.t.Fatalf("%d images are started ahead, not %d", h.metric("images_ahead"), n)
	}
	return descendants(h.cmd.Process.Pid)
}

// handshake begins a connection at /mcp, of which each call is one of the era with handshakes.
func (h *httpServer) handshake() (eval func(code string) string) {
	h.t.Helper()
	id := ""
	send := func(message object) (http.Header, string) {
		message["jsonrpc"] = "2.0"
		body, err := json.Marshal(message)
		check(h.t, err)
		r, err := http.NewRequest("POST", h.url+"/mcp", bytes.NewReader(body))
		check(h.t, err)
		for k, v := range map[string]string{"Authorization": "Bearer " + h.token, "Content-Type": "application/json", "Accept": "application/json, text/event-stream"} {
			r.Header.Set(k, v)
		}
		if id != "" {
			r.Header.Set("Mcp-Session-Id", id)
		}
		resp, err := h.client.Do(r)
		check(h.t, err)
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		check(h.t, err)
		return resp.Header, string(text)
	}
	head, _ := send(object{"id": 1, "method": "initialize", "params": object{"protocolVersion": "2025-11-25", "capabilities": object{}, "clientInfo": object{"name": "e2e", "version": "1"}}})
	id = head.Get("Mcp-Session-Id")
	send(object{"method": "notifications/initialized", "params": object{}})
	return func(code string) string {
		_, text := send(object{"id": 2, "method": "tools/call", "params": object{"name": "evaluate-lisp", "arguments": object{"code": code}}})
		return text
	}
}

// New sessions have an image that was started before them, with nothing in it, which is
// replaced for the next; the sandbox around it is theirs alone.
func TestHTTPPool(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	h := startHTTP(t, state)
	ahead := h.awaitsAhead(2)
	one := httpPID(h, "/s/one/mcp")
	if !slices.Contains(ahead, one) {
		t.Errorf("the image %d of the first session is none of %d", one, ahead)
	}
	eval := h.handshake()
	if got := eval(getpid); !slices.ContainsFunc(ahead, func(pid int) bool { return strings.Contains(got, fmt.Sprintf("=\\u003e %d", pid)) }) {
		t.Errorf("the image of a client with a handshake is none of %d: %s", ahead, got)
	}
	ahead = h.awaitsAhead(2)
	if h.metric("ahead_taken_total") != 2 || h.metric("images") != 2 {
		t.Errorf("%d were taken, %d images run", h.metric("ahead_taken_total"), h.metric("images"))
	}

	// What the one has, the other has not.
	dir := h.dir("one")
	h.wants("/s/one/mcp", fmt.Sprintf(`(with-open-file (out "%s/own" :direction :output) (print 42 out))`, dir), "=> 42")
	h.wants("/s/one/mcp", "(defvar *v* 1) (defun f () *v*)", "=> F")
	two := httpPID(h, "/s/two/mcp")
	if !slices.Contains(ahead, two) || two == one {
		t.Errorf("the image %d of the second session is none of %d", two, ahead)
	}
	if other := h.dir("two"); other == dir {
		t.Errorf("both have %s", dir)
	}
	const try = `(handler-case (with-open-file (in %q :direction %s :if-exists :append) (if (input-stream-p in) (read in) :written)) (error () :refused))`
	for _, path := range []string{dir + "/own", filepath.Join(state, "swank-mcp/http/sessions/owner/named/one/own"), h.tokens()} {
		h.wants("/s/two/mcp", fmt.Sprintf(try, path, ":input"), "=> :REFUSED")
		h.wants("/s/two/mcp", fmt.Sprintf(try, path, ":output"), "=> :REFUSED")
	}
	h.wants("/s/two/mcp", "(list (boundp '*v*) (fboundp 'f))", "=> (NIL NIL)")
	h.wants("/s/two/mcp", fmt.Sprintf("(length (directory %q))", filepath.Dir(dir)+"/*/"), "=> 1")
	h.keeps("one", "(defun f ")
	h.end()

	// The directory is the session's for good.
	h = startHTTP(t, state, "--pool", "0")
	h.wants("/s/one/mcp", fmt.Sprintf(`(list (f) (with-open-file (in "%s/own") (read in)))`, dir), "…2 definitions…=> (1 42)")
	if h.dir("one") != dir {
		t.Errorf("it is %s now, and was %s", h.dir("one"), dir)
	}
}

// dir is the directory of a named session of the owner's.
func (h *httpServer) dir(session string) string {
	dir, err := filepath.EvalSymlinks(filepath.Join(h.state, "swank-mcp/http/sessions/owner/named", session))
	check(h.t, err)
	return dir
}

// What was started ahead wakes sessions at /mcp, is replaced when it dies, gives way where there
// is no room, and leaves nothing behind.
func TestHTTPPoolBounds(t *testing.T) {
	tier.More(t)
	t.Parallel()
	state := t.TempDir()
	h := startHTTP(t, state, "--max-images", "2", "--hibernate-after", "5", "--autosave", "--no-checkpoints=false")
	ahead := h.awaitsAhead(2)
	for _, pid := range ahead {
		if strings.Contains(command(pid), "sbcl") {
			check(t, syscall.Kill(pid, syscall.SIGKILL))
		}
	}
	if await.Until(func() bool { return h.metric("ahead_failed_total") == 2 }) != nil {
		t.Errorf("%d have failed", h.metric("ahead_failed_total"))
	}
	h.awaitsAhead(2)
	h.wants("/s/n/mcp", "(defvar *v* (list 1)) (push 2 *v*)", "=> (2 1)")
	h.awaitsAhead(1) // there is room for one more
	eval := h.handshake()
	if got := eval("(defun twice (x) (* 2 x))"); !strings.Contains(got, "TWICE") {
		t.Error(got)
	}
	if await.Until(func() bool { return h.metric("hibernated_total") == 2 }) != nil {
		t.Fatal("the images are not put away")
	}
	h.awaitsAhead(2)
	taken := h.metric("ahead_taken_total")
	if got := eval("(twice 21)"); !strings.Contains(got, "=\\u003e 42") || !strings.Contains(got, "put away") {
		t.Error(got)
	}
	if n := h.metric("ahead_taken_total"); n != taken+1 {
		t.Errorf("it was taken %d times, before that %d", n, taken)
	}
	h.wants("/s/n/mcp", "*v*", "=> (2 1)\n; The image was replaced…with all values.…")
	h.end()
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
	first := startHTTP(t, state, "--lease", "10")
	second := startHTTP(t, state, "--lease", "10")
	ahead := first.awaitsAhead(2)
	second.awaitsAhead(2)
	if pid := httpPID(first, "/s/n/mcp"); !slices.Contains(ahead, pid) {
		t.Errorf("the image %d is none of %d", pid, ahead)
	}
	dir := first.dir("n")
	first.wants("/s/n/mcp", fmt.Sprintf(`(defun f () (with-open-file (in "%s/own") (read in)))`, dir), "=> F")
	first.wants("/s/n/mcp", fmt.Sprintf(`(with-open-file (out "%s/own" :direction :output) (print 42 out))`, dir), "=> 42")
	check(t, first.cmd.Process.Kill())
	<-first.ended
	second.wants("/s/n/mcp", "(f)", "…1 definition…=> 42")
	if got := second.dir("n"); got != dir {
		t.Errorf("it is %s now, and was %s", got, dir)
	}
	other := second.awaitsAhead(2)
	if pid := httpPID(second, "/s/m/mcp"); !slices.Contains(other, pid) {
		t.Errorf("the image %d is none of %d", pid, other)
	}
}
