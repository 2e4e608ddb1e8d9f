package serve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"swank-mcp/internal/await"
	"swank-mcp/mcpbridge"
	"swank-mcp/mcpbridge/tools"
	"swank-mcp/serve/door"
	"swank-mcp/serve/hub"
	"swank-mcp/swank/lisp"
	"swank-mcp/swank/lisp/kept"
	"swank-mcp/swank/lisp/launch"
)

// site is a server with real images that runs in this process, for two principals.
type site struct {
	t      *testing.T
	s      *Server
	url    string
	tokens map[string]string
	end    func() // as by SIGTERM; returns when the server has ended
}

// start runs a server until the end of the test, with its sessions below dir.
func start(t *testing.T, dir string, change func(*Options)) *site {
	t.Helper()
	p := &site{t: t, tokens: map[string]string{"anna": strings.Repeat("a", 40), "bert": strings.Repeat("b", 40)}}
	file := filepath.Join(t.TempDir(), "tokens")
	text := ""
	for who, token := range p.tokens {
		text += who + " " + token + "\n"
	}
	check(t, os.WriteFile(file, []byte(text), 0o600))
	tokens, _, err := door.LoadTokens(file, "")
	check(t, err)
	o := Options{
		Door:  door.Options{Tokens: tokens},
		Hub:   hub.Options{Make: func(id hub.ID, newID func() string) (*hub.Work, error) { return work(dir, id, newID) }},
		Drain: 5 * time.Second,
	}
	change(&o)
	p.s = New(o)
	l, err := door.Place{Address: "127.0.0.1:0"}.Listen()
	check(t, err)
	p.url = l.URL
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- p.s.Serve(ctx, l) }()
	p.end = func() {
		cancel()
		check(t, await.From(t, "the end of the server", ended))
		ended <- nil
	}
	t.Cleanup(func() {
		p.end()
		http.DefaultClient.CloseIdleConnections()
	})
	return p
}

// work makes what a session works with, as cmd does.
func work(dir string, id hub.ID, newID func() string) (*hub.Work, error) {
	var left *kept.File
	if id.Name != "" {
		left = kept.Open(filepath.Join(dir, id.Principal, id.Name, "session.lisp"))
	}
	return workKept(dir, id, newID, left)
}

// workKept is work with a session that is kept so.
func workKept(dir string, id hub.ID, newID func() string, left *kept.File) (*hub.Work, error) {
	im := lisp.New(lisp.Config{Launch: launch.Config{NoUserInit: true}, NoCheckpoints: true})
	dir = filepath.Join(dir, id.Principal, id.Name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	im.Session(mcpbridge.DefaultSession).KeepIn(left)
	b := mcpbridge.New(mcpbridge.Options{
		Open: func(name string) tools.Session { return im.Session(name) }, Kept: left, SessionDir: dir, SessionID: newID,
	})
	return &hub.Work{Image: im, Session: mcpbridge.DefaultSession, Bridge: b, Kept: left}, nil
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// call is one request.
type call struct {
	who, path, method string            // "" is anna, /mcp, POST
	header            map[string]string // beside the usual ones; "" takes one away
	body              any               // JSON, or a string that is sent as it is
}

type reply struct {
	status int
	head   http.Header
	body   string
}

// open sends the call and returns the answer when it begins.
func (p *site) open(ctx context.Context, c call) (*http.Response, error) {
	body, ok := c.body.(string)
	if !ok {
		text, _ := json.Marshal(c.body)
		body = string(text)
	}
	method := c.method
	if method == "" {
		method = "POST"
	}
	if c.path == "" {
		c.path = "/mcp"
	}
	if c.who == "" {
		c.who = "anna"
	}
	r, err := http.NewRequestWithContext(ctx, method, p.url+c.path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+p.tokens[c.who])
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for k, v := range c.header {
		if r.Header.Set(k, v); v == "" {
			r.Header.Del(k)
		}
	}
	return http.DefaultClient.Do(r)
}

func (p *site) send(c call) reply {
	p.t.Helper()
	ctx, cancel := await.Limited(context.Background())
	defer cancel()
	resp, err := p.open(ctx, c)
	check(p.t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	check(p.t, err)
	return reply{resp.StatusCode, resp.Header, string(text)}
}

// requests numbers them: a connection refuses a second one of a number in flight.
var requests atomic.Int64

// tool is a call of a tool in the era without handshakes.
func tool(name string, arguments map[string]any) call {
	return call{
		header: map[string]string{"MCP-Protocol-Version": newEra, "Mcp-Method": "tools/call", "Mcp-Name": name},
		body: map[string]any{"jsonrpc": "2.0", "id": requests.Add(1), "method": "tools/call", "params": map[string]any{
			"name": name, "arguments": arguments, "_meta": map[string]any{
				metaVersion: newEra, "io.modelcontextprotocol/clientCapabilities": map[string]any{},
				"io.modelcontextprotocol/clientInfo": map[string]any{"name": "test", "version": "1"}},
		}},
	}
}

func code(text string) call {
	return tool("evaluate-lisp", map[string]any{"code": text, "timeout": 60})
}

func (c call) at(path string) call { c.path = path; return c }
func (c call) by(who string) call  { c.who = who; return c }

// text is the text of the result of a tool, or else all of the answer.
func (r reply) text() string {
	for lines := bufio.NewScanner(strings.NewReader(r.body)); lines.Scan(); {
		data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: "))
		var m struct {
			Result struct{ Content []struct{ Text string } }
		}
		if ok && json.Unmarshal(data, &m) == nil && len(m.Result.Content) == 1 {
			return m.Result.Content[0].Text
		}
	}
	return fmt.Sprintf("%d %s", r.status, r.body)
}

// wants sends the call and wants that text.
func (p *site) wants(c call, want string) {
	p.t.Helper()
	if got := p.send(c).text(); got != want {
		p.t.Errorf("%s %s: got %q, want %q", c.path, c.body, got, want)
	}
}

// says sends the call and wants a text with the parts.
func (p *site) says(c call, parts ...string) {
	p.t.Helper()
	got := p.send(c).text()
	for _, part := range parts {
		if !strings.Contains(got, part) {
			p.t.Errorf("%s: %q does not say %q", c.path, got, part)
		}
	}
}

// handshake begins a connection of the older era and returns its id.
func (p *site) handshake(c call) (id string, r reply) {
	p.t.Helper()
	c.body = map[string]any{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": map[string]any{
		"protocolVersion": "2025-11-25", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "test", "version": "1"}}}
	r = p.send(c)
	if id = r.head.Get(sessionHeader); id != "" {
		c.header = map[string]string{sessionHeader: id, versionHeader: "2025-11-25"}
		c.body = map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"}
		if r := p.send(c); r.status != 202 {
			p.t.Fatalf("initialized: %+v", r)
		}
	}
	return id, r
}

// within makes of a call of the new era one of the connection.
func (c call) within(id string) call {
	c.header = map[string]string{sessionHeader: id, versionHeader: "2025-11-25"}
	delete(c.body.(map[string]any)["params"].(map[string]any), "_meta")
	return c
}
