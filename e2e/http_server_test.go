package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"swank-mcp/e2e/wire"
	"swank-mcp/internal/await"
)

// httpServer is the binary under test, serving over HTTP.
type httpServer struct {
	t      *testing.T
	url    string // without /mcp
	state  string // the user's state directory
	token  string // of the first principal, or ""
	client *http.Client
	cmd    *exec.Cmd
	stderr wire.Output
	ended  chan struct{}
}

// servingAt finds the address in the log of a server over HTTP.
var servingAt = regexp.MustCompile(`serving MCP at (\S+)/mcp\n`)

// startHTTP runs a server with a state directory, and ends it with the test: it must end by
// itself, well, and leave no process.
func startHTTP(t *testing.T, state string, args ...string) *httpServer {
	t.Helper()
	skipLaunchedOnly(t)
	check(t, run.warm())
	h := &httpServer{t: t, state: state, client: &http.Client{Transport: &http.Transport{}}, ended: make(chan struct{})}
	h.cmd = exec.Command(run.binary, append([]string{"serve", "--http", "127.0.0.1:0", "--log-level", "debug", "--no-userinit", "--no-checkpoints"}, args...)...)
	for _, v := range environ(run.dir, "XDG_STATE_HOME="+state) {
		if !strings.HasPrefix(v, "SWANK_MCP_") || strings.HasPrefix(v, runDirVariable) {
			h.cmd.Env = append(h.cmd.Env, v)
		}
	}
	h.cmd.Dir = t.TempDir()
	h.cmd.Stderr = &h.stderr
	check(t, h.cmd.Start())
	go func() {
		h.cmd.Wait()
		close(h.ended)
	}()
	t.Cleanup(func() {
		h.end()
		if t.Failed() {
			t.Logf("server log (end):\n%s", tail(h.stderr.String(), 3000))
		}
	})
	await.True(t, "the server to serve", func() bool { return servingAt.MatchString(h.stderr.String()) }, h)
	h.url = servingAt.FindStringSubmatch(h.stderr.String())[1]
	if path, ok := strings.CutPrefix(h.url, "unix:"); ok {
		h.url = "http://socket"
		h.client.Transport = &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", path)
		}}
	}
	if text, err := os.ReadFile(h.tokens()); err == nil {
		h.token = regexp.MustCompile(`(?m)^owner (\S+)$`).FindStringSubmatch(string(text))[1]
	}
	return h
}

// Exited is closed when the server has ended.
func (h *httpServer) Exited() <-chan struct{} { return h.ended }

// Said returns what the server has logged.
func (h *httpServer) Said() string { return h.stderr.String() }

// tokens returns the path of the file of tokens.
func (h *httpServer) tokens() string { return filepath.Join(h.state, "swank-mcp", "http", "tokens") }

// end sends SIGTERM, if the server has not ended, and holds it to its end.
func (h *httpServer) end() {
	h.t.Helper()
	h.client.CloseIdleConnections()
	select {
	case <-h.ended:
		return
	default:
	}
	kids := descendants(h.cmd.Process.Pid)
	h.cmd.Process.Signal(syscall.SIGTERM)
	ended := func() bool {
		select {
		case <-h.ended:
			return true
		default:
			return false
		}
	}
	if err := await.Until(ended); err != nil {
		h.t.Errorf("its end: %v", err)
		h.cmd.Process.Kill()
		<-h.ended
	}
	if code := h.cmd.ProcessState.ExitCode(); code != 0 {
		h.t.Errorf("it ended with %v", h.cmd.ProcessState)
	}
	if log := h.stderr.String(); strings.Contains(log, "DATA RACE") || strings.Contains(log, "panic:") {
		h.t.Errorf("server log:\n%s", log)
	}
	wantGone(h.t, kids)
}

// wantGone wants the processes of a server that has ended to end, too.
func wantGone(t *testing.T, pids []int) {
	t.Helper()
	for _, pid := range pids {
		if !gone(pid) {
			t.Errorf("process %d (%s) outlived its server", pid, command(pid))
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// httpRequests counts the requests, for their ids.
var httpRequests atomic.Int64

// post sends one request of the era without handshakes, and returns the answer when it
// begins.
func (h *httpServer) post(ctx context.Context, path, method, name string, params object) (*http.Response, error) {
	params["_meta"] = object{
		"io.modelcontextprotocol/protocolVersion":    "2026-07-28",
		"io.modelcontextprotocol/clientCapabilities": object{},
		"io.modelcontextprotocol/clientInfo":         object{"name": "e2e", "version": "1"},
	}
	body, err := json.Marshal(object{"jsonrpc": "2.0", "id": httpRequests.Add(1), "method": method, "params": params})
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, "POST", h.url+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for k, v := range map[string]string{"Authorization": "Bearer " + h.token, "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method, "Mcp-Name": name} {
		r.Header.Set(k, v)
	}
	return h.client.Do(r)
}

// call calls a tool and returns the text of its result, or else the status and the body.
func (h *httpServer) call(path, tool string, arguments object) string {
	ctx, stop := await.Limited(context.Background())
	defer stop()
	resp, err := h.post(ctx, path, "tools/call", tool, object{"name": tool, "arguments": arguments})
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	for lines := bufio.NewScanner(bytes.NewReader(body)); lines.Scan(); {
		var m struct {
			Result struct{ Content []struct{ Text string } }
		}
		if data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: ")); ok && json.Unmarshal(data, &m) == nil && len(m.Result.Content) == 1 {
			return m.Result.Content[0].Text
		}
	}
	return fmt.Sprintf("%d %s %v", resp.StatusCode, body, err)
}

// eval evaluates code and returns the text of the reply.
func (h *httpServer) eval(path, code string) string {
	return h.call(path, "evaluate-lisp", object{"code": code})
}

// wants wants the text that code is answered with.
func (h *httpServer) wants(path, code, want string) {
	h.t.Helper()
	if got := h.eval(path, code); !matches(want, got) {
		h.t.Errorf("%s: %s is answered\n%s\nwant\n%s", path, code, got, want)
	}
}

// keeps waits until the definition that begins so is on the disk: that takes a moment after
// the answer.
func (h *httpServer) keeps(session, definition string) {
	h.t.Helper()
	file := filepath.Join(h.state, "swank-mcp", "http", "sessions", "owner", "kept", session, "session.lisp")
	if await.Until(func() bool {
		text, _ := os.ReadFile(file)
		return strings.Contains(string(text), definition)
	}) != nil {
		h.t.Errorf("%s is not kept in %s", definition, file)
	}
}

// get is the status and the body of a page.
func (h *httpServer) get(path string) (int, string) {
	resp, err := h.client.Get(h.url + path)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(body)
}
