package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"
)

// client sends requests of the protocol, in both eras, as they are.
type client struct {
	url, token string
	http       *http.Client
	patience   time.Duration // how long a call may take in all
	ids        atomic.Int64
}

func newClient(o options) (*client, error) {
	c := &client{url: o.url, patience: callTime}
	text, err := os.ReadFile(o.tokens)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) == 2 && c.token == "" {
			c.token = fields[1]
		}
	}
	if o.ca == "" {
		c.http = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: o.sessions}}
		return c, nil
	}
	pem, err := os.ReadFile(o.ca)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if c.token == "" || !roots.AppendCertsFromPEM(pem) {
		return nil, errors.New("-tokens has no token, or -ca no certificate")
	}
	c.http = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}}
	return c, nil
}

const (
	newEra = "2026-07-28"
	oldEra = "2025-11-25"
)

// callTime limits a whole call of a client without another patience.
const callTime = time.Minute

// tryAgainError is an answer that says to send the call again.
type tryAgainError struct {
	status int
	text   string
	anew   bool // after a new handshake
}

func (e *tryAgainError) Error() string { return fmt.Sprintf("%d %s", e.status, e.text) }

// post sends a message to the session, and returns what is answered. conn is the id of the
// connection in the era with handshakes.
func (c *client) post(ctx context.Context, path, conn, method string, params map[string]any) (*answer, error) {
	message := map[string]any{"jsonrpc": "2.0", "method": method, "params": params}
	if !strings.HasPrefix(method, "notifications/") {
		message["id"] = c.ids.Add(1)
	}
	body, err := json.Marshal(message)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, "POST", c.url+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.GetBody = nil // what was sent is not sent again unseen
	r.Header.Set("Authorization", "Bearer "+c.token)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if _, modern := params["_meta"]; modern {
		r.Header.Set("MCP-Protocol-Version", newEra)
		r.Header.Set("Mcp-Method", method)
		r.Header.Set("Mcp-Name", fmt.Sprint(params["name"]))
	} else if conn != "" {
		r.Header.Set("MCP-Protocol-Version", oldEra)
		r.Header.Set("Mcp-Session-Id", conn)
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil && ctx.Err() == nil {
		return nil, &brokenError{err.Error()}
	} else if err != nil {
		return nil, err
	}
	return read(resp, text)
}

// answer is what was answered to a call.
type answer struct {
	conn string // the id of the connection that has begun
	text string // of the result
}

// read makes an answer of a response.
func read(resp *http.Response, body []byte) (*answer, error) {
	a := &answer{conn: resp.Header.Get("Mcp-Session-Id")}
	switch resp.StatusCode {
	case http.StatusAccepted:
		return a, nil
	case http.StatusOK:
	case http.StatusNotFound: // as the protocol says: begin anew
		return nil, &tryAgainError{resp.StatusCode, string(body), true}
	default:
		if resp.Header.Get("Retry-After") != "" {
			return nil, &tryAgainError{resp.StatusCode, string(body), false}
		}
		return nil, fmt.Errorf("%s: %s", resp.Status, body)
	}
	lines := bufio.NewScanner(bytes.NewReader(body))
	lines.Buffer(nil, 8<<20)
	for lines.Scan() {
		data := bytes.TrimPrefix(lines.Bytes(), []byte("data: "))
		var m struct {
			ID     any
			Result *struct {
				Content []struct{ Text string }
				IsError bool
			}
			Error *struct{ Message string }
		}
		if json.Unmarshal(data, &m) != nil || m.ID == nil {
			continue
		}
		switch {
		case m.Error != nil && again(m.Error.Message):
			return nil, &tryAgainError{resp.StatusCode, m.Error.Message, false}
		case m.Error != nil:
			return nil, errors.New(m.Error.Message)
		case m.Result == nil:
			continue
		case len(m.Result.Content) > 0:
			a.text = m.Result.Content[0].Text
		}
		if m.Result.IsError && again(a.text) {
			return nil, &tryAgainError{resp.StatusCode, a.text, false}
		} else if m.Result.IsError {
			return nil, errors.New(a.text)
		}
		return a, nil
	}
	return nil, &brokenError{fmt.Sprintf("%q", body)}
}

// brokenError is an answer that had begun and has ended before it was complete: the server
// died meanwhile, and nobody can say so any more.
type brokenError struct{ text string }

func (e *brokenError) Error() string { return "the answer breaks off: " + e.text }

func again(text string) bool {
	text = strings.ToLower(text)
	return strings.Contains(text, "again in ") || strings.Contains(text, "again in a few")
}
