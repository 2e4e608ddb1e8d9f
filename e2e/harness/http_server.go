//go:build unix

package harness

import (
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

// HTTPServer is the binary under test, serving over HTTP.
type HTTPServer struct {
	T      *testing.T
	Url    string // without /mcp
	State  string // the user's state directory
	Token  string // of the first principal, or ""
	Client *http.Client
	Cmd    *exec.Cmd
	Stderr wire.Output
	Ended  chan struct{}
}

// ServingAt finds the address in the log of a server over HTTP.
var ServingAt = regexp.MustCompile(`serving MCP at (\S+)/mcp\n`)

// StartHTTP runs a server with a state directory, and ends it with the test: it must end by
// itself, well, and leave no process.
func StartHTTP(t *testing.T, state string, args ...string) *HTTPServer {
	t.Helper()
	SkipLaunchedOnly(t)
	Check(t, Run.Warm())
	o := wire.Options{Env: Environ(Run.Dir, "XDG_STATE_HOME="+state), Dir: t.TempDir()}
	return StartHTTPWith(t, o, state, append([]string{Run.Binary, "serve", "--http", "127.0.0.1:0", "--log-level", "debug", "--no-userinit", "--no-checkpoints"}, args...)...)
}

// StartHTTPWith runs a command that starts a server, as [StartHTTP] does.
func StartHTTPWith(t *testing.T, o wire.Options, state string, command ...string) *HTTPServer {
	t.Helper()
	h := &HTTPServer{T: t, State: state, Client: &http.Client{Transport: &http.Transport{}}, Ended: make(chan struct{})}
	h.Cmd = exec.Command(command[0], command[1:]...)
	for _, v := range o.Env {
		if !strings.HasPrefix(v, "SWANK_MCP_") || strings.HasPrefix(v, RunDirVariable) {
			h.Cmd.Env = append(h.Cmd.Env, v)
		}
	}
	h.Cmd.Dir = o.Dir
	h.Cmd.Stderr = &h.Stderr
	Check(t, h.Cmd.Start())
	go func() {
		h.Cmd.Wait()
		close(h.Ended)
	}()
	t.Cleanup(func() {
		h.End()
		if t.Failed() {
			t.Logf("server log (end):\n%s", Tail(h.Stderr.String(), 3000))
		}
	})
	await.True(t, "the server to serve", func() bool { return ServingAt.MatchString(h.Stderr.String()) }, h)
	h.Url = ServingAt.FindStringSubmatch(h.Stderr.String())[1]
	if path, ok := strings.CutPrefix(h.Url, "unix:"); ok {
		h.Url = "http://socket"
		h.Client.Transport = &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", path)
		}}
	}
	if text, err := os.ReadFile(h.Tokens()); err == nil {
		h.Token = regexp.MustCompile(`(?m)^owner (\S+)$`).FindStringSubmatch(string(text))[1]
	}
	return h
}

// Exited is closed when the server has ended.
func (h *HTTPServer) Exited() <-chan struct{} { return h.Ended }

// Said returns what the server has logged.
func (h *HTTPServer) Said() string { return h.Stderr.String() }

// Tokens returns the path of the file of tokens.
func (h *HTTPServer) Tokens() string { return filepath.Join(h.State, "swank-mcp", "http", "tokens") }

// End sends SIGTERM, if the server has not ended, and holds it to its end.
func (h *HTTPServer) End() {
	h.T.Helper()
	h.Client.CloseIdleConnections()
	select {
	case <-h.Ended:
		return
	default:
	}
	kids := Descendants(h.Cmd.Process.Pid)
	h.Cmd.Process.Signal(syscall.SIGTERM)
	ended := func() bool {
		select {
		case <-h.Ended:
			return true
		default:
			return false
		}
	}
	if err := await.Until(ended); err != nil {
		h.T.Errorf("its end: %v", err)
		h.Cmd.Process.Kill()
		<-h.Ended
	}
	if code := h.Cmd.ProcessState.ExitCode(); code != 0 {
		h.T.Errorf("it ended with %v", h.Cmd.ProcessState)
	}
	if log := h.Stderr.String(); strings.Contains(log, "DATA RACE") || strings.Contains(log, "panic:") {
		h.T.Errorf("server log:\n%s", log)
	}
	WantGone(h.T, kids)
}

// WantGone wants the processes of a server that has ended to end, too.
func WantGone(t *testing.T, pids []int) {
	t.Helper()
	for _, pid := range pids {
		if !Gone(pid) {
			t.Errorf("process %d (%s) outlived its server", pid, Command(pid))
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// HTTPRequests counts the requests, for their ids.
var HTTPRequests atomic.Int64

// Post sends one request of the era without handshakes, and returns the answer when it
// begins.
func (h *HTTPServer) Post(ctx context.Context, path, method, name string, params Object) (*http.Response, error) {
	params["_meta"] = Object{
		"io.modelcontextprotocol/protocolVersion":    "2026-07-28",
		"io.modelcontextprotocol/clientCapabilities": Object{},
		"io.modelcontextprotocol/clientInfo":         Object{"name": "e2e", "version": "1"},
	}
	body, err := json.Marshal(Object{"jsonrpc": "2.0", "id": HTTPRequests.Add(1), "method": method, "params": params})
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, "POST", h.Url+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for k, v := range map[string]string{"Authorization": "Bearer " + h.Token, "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method, "Mcp-Name": name} {
		r.Header.Set(k, v)
	}
	return h.Client.Do(r)
}

// Call calls a tool and returns the text of its result, or else the status and the body.
func (h *HTTPServer) Call(path, tool string, arguments Object) string {
	text, err := h.Tool(path, tool, arguments)
	if err != nil {
		return err.Error()
	}
	return text
}

// Tool calls a tool and returns the text of its result. The error has the status and the body of an
// answer that is none.
func (h *HTTPServer) Tool(path, tool string, arguments Object) (string, error) {
	ctx, stop := await.Limited(context.Background())
	defer stop()
	resp, err := h.Post(ctx, path, "tools/call", tool, Object{"name": tool, "arguments": arguments})
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	for line := range bytes.Lines(body) {
		var m struct {
			Result struct{ Content []struct{ Text string } }
		}
		if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok && json.Unmarshal(data, &m) == nil && len(m.Result.Content) == 1 {
			return m.Result.Content[0].Text, nil
		}
	}
	return "", fmt.Errorf("%d %s %v", resp.StatusCode, body, err)
}

// Eval evaluates code and returns the text of the reply.
func (h *HTTPServer) Eval(path, code string) string {
	return h.Call(path, "evaluate-lisp", Object{"code": code})
}

// Wants wants the text that code is answered with.
func (h *HTTPServer) Wants(path, code, want string) {
	h.T.Helper()
	if got := h.Eval(path, code); !Matches(want, got) {
		h.T.Errorf("%s: %s is answered\n%s\nwant\n%s", path, code, got, want)
	}
}

// Keeps waits until the definition that begins so is on the disk: that takes a moment after
// the answer.
func (h *HTTPServer) Keeps(session, definition string) {
	h.T.Helper()
	file := filepath.Join(h.State, "swank-mcp", "http", "sessions", "owner", "kept", session, "session.lisp")
	if await.Until(func() bool {
		text, _ := os.ReadFile(file)
		return strings.Contains(string(text), definition)
	}) != nil {
		h.T.Errorf("%s is not kept in %s", definition, file)
	}
}

// Get is the status and the body of a page.
func (h *HTTPServer) Get(path string) (int, string) {
	resp, err := h.Client.Get(h.Url + path)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(body)
}
