package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"swank-mcp/mcpbridge"
)

// tokenVariable has the token for --url, in the environment: an argument could be read by
// every program of the machine.
const tokenVariable = "SWANK_MCP_TOKEN"

// remote is a connection to a session of a server over HTTP.
type remote struct {
	*mcp.ClientSession
	url string
	to  *withToken
}

// checkURL says what is wrong with --url. Of a path that is missing it makes /mcp.
func (c *config) checkURL() error {
	if c.url == "" {
		return nil
	}
	u, err := url.Parse(c.url)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil || u.Fragment != "" || u.RawQuery != "" {
		return fmt.Errorf("%w: --url is the address of a server over HTTP and of a session, as in --url http://127.0.0.1:7800/s/shop/mcp", errUsage)
	}
	if ip := net.ParseIP(u.Hostname()); u.Scheme == "http" && !c.allowRemote && u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("%w: --url %s would send your token and your code to another machine, not encrypted: take https, or give --allow-remote", errUsage, c.url)
	}
	if c.session != mcpbridge.DefaultSession {
		return fmt.Errorf("%w: with --url the address says the session, as in --url %s://%s/s/%s/mcp", errUsage, u.Scheme, u.Host, c.session)
	}
	if strings.Trim(u.Path, "/") == "" {
		u.Path = "/mcp"
	}
	c.url = u.String()
	return nil
}

// remote connects to the session that --url names.
func (c *command) remote(ctx context.Context) (*remote, error) {
	r := &remote{url: c.url, to: &withToken{token: os.Getenv(tokenVariable)}}
	client := &http.Client{Transport: r.to, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // the token is for this server
	}}
	transport := &mcp.StreamableClientTransport{Endpoint: c.url, HTTPClient: client, MaxRetries: -1, DisableStandaloneSSE: true}
	var err error
	r.ClientSession, err = mcp.NewClient(&mcp.Implementation{Name: "swank-mcp", Version: version()}, nil).Connect(ctx, transport, nil)
	return r, r.explain(err)
}

// explain says what to do about err.
func (r *remote) explain(err error) error {
	switch {
	case err == nil:
		return nil
	case r.to.status.Load() == http.StatusUnauthorized && r.to.token == "":
		return fmt.Errorf("%s wants a token: put yours, of its file of tokens, into the variable %s", r.url, tokenVariable)
	case r.to.status.Load() == http.StatusUnauthorized:
		return fmt.Errorf("%s does not know the token in %s", r.url, tokenVariable)
	case r.to.status.Load() >= 300 && r.to.status.Load() < 400, r.to.status.Load() == http.StatusNotFound:
		return fmt.Errorf("there is no server at %s: the path is /mcp, or /s/NAME/mcp", r.url)
	}
	return fmt.Errorf("asking %s: %w", r.url, err)
}

// text calls a tool, and returns what it answers, and whether that is an error.
func (r *remote) text(ctx context.Context, tool string, arguments map[string]any) (text string, failed bool, err error) {
	answer, err := r.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		return "", false, r.explain(err)
	}
	for _, content := range answer.Content {
		if t, ok := content.(*mcp.TextContent); ok {
			text += t.Text
		}
	}
	return text, answer.IsError, nil
}

// evalRemote evaluates code in the session that --url names, and prints what it answers.
func (c *command) evalRemote(ctx context.Context, code string) error {
	r, err := c.remote(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	text, failed, err := r.text(ctx, "evaluate-lisp", map[string]any{"code": code, "timeout": c.timeout.Seconds()})
	if err != nil {
		return err
	}
	fmt.Fprintln(c.stdout, text)
	if failed {
		return errReported
	}
	return nil
}

// doctorRemote prints whether the session that --url names can be used. It starts no image.
func (c *command) doctorRemote(ctx context.Context) error {
	r, err := c.remote(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	tools, err := r.ListTools(ctx, nil)
	if err != nil {
		return r.explain(err)
	}
	about := r.InitializeResult()
	if about == nil || about.ServerInfo == nil {
		return errors.New("what answers at " + r.url + " does not say who it is")
	}
	fmt.Fprintf(c.stdout, "ok       server   %s %s at %s\n", about.ServerInfo.Name, about.ServerInfo.Version, r.url)
	fmt.Fprintf(c.stdout, "ok       tools    %d, by protocol %s\n", len(tools.Tools), about.ProtocolVersion)
	return nil
}

// withToken sends a token with each request, and keeps the status of the last answer that
// was no success.
type withToken struct {
	token  string
	status atomic.Int64
}

// RoundTrip implements http.RoundTripper.
func (w *withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	if w.token != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+w.token)
	}
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err == nil && answer.StatusCode >= 300 {
		w.status.Store(int64(answer.StatusCode))
	}
	return answer, err
}
