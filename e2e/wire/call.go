package wire

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/sourcegraph/jsonrpc2"
)

// Progress is one notifications/progress message.
type Progress struct {
	At       time.Time
	Progress float64 `json:"progress"`
	Message  string  `json:"message"`
}

// Content is one block of a tool's result.
type Content struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// Result is the result of tools/call.
type Result struct {
	Content    []Content       `json:"content"`
	IsError    bool            `json:"isError"`
	Structured json.RawMessage `json:"structuredContent"`
}

// Text is the text of the only block. Anything but exactly one text block and
// no structured content is returned as a complaint that no expectation equals.
func (r Result) Text() string {
	if len(r.Content) != 1 || r.Content[0].Type != "text" || r.Structured != nil {
		return fmt.Sprintf("<wire: %d blocks %+v, structured content %s>", len(r.Content), r.Content, r.Structured)
	}
	return r.Content[0].Text
}

// CallOptions change how a request is sent.
type CallOptions struct {
	ID       *jsonrpc2.ID   // nil: the next number
	Progress func(Progress) // not nil: a progress token is sent; called on the reader
}

// Pending is a request that was sent and may be answered.
type Pending struct {
	ID     jsonrpc2.ID
	Sent   time.Time
	client *Client
	waiter jsonrpc2.Waiter
	token  string
}

// Go sends one request and does not wait. params is encoded as JSON; it must
// be nil or an object given as map[string]any, to which _meta is added.
func (c *Client) Go(method string, params map[string]any, o CallOptions) (*Pending, error) {
	n := c.seq.Add(1)
	p := &Pending{ID: jsonrpc2.ID{Num: n}, client: c}
	if o.ID != nil {
		p.ID = *o.ID
	}
	meta := c.meta()
	if o.Progress != nil {
		p.token = fmt.Sprintf("p%d", n)
		meta["progressToken"] = p.token
		c.mu.Lock()
		c.progress[p.token] = o.Progress
		c.mu.Unlock()
	}
	full := make(map[string]any, len(params)+1)
	for k, v := range params {
		full[k] = v
	}
	if len(meta) > 0 {
		full["_meta"] = meta
	}
	p.Sent = time.Now()
	var err error
	p.waiter, err = c.conn.DispatchCall(context.Background(), method, full, jsonrpc2.PickID(p.ID))
	if err != nil {
		return nil, fmt.Errorf("wire: sending %s: %w", method, err)
	}
	return p, nil
}

// Wait waits for the answer and decodes it into v. The error is a
// *jsonrpc2.Error if the server answered with one, jsonrpc2.ErrClosed if the
// server went away, or that of ctx.
func (p *Pending) Wait(ctx context.Context, v any) error {
	err := p.waiter.Wait(ctx, v)
	if p.token != "" {
		p.client.mu.Lock()
		delete(p.client.progress, p.token)
		p.client.mu.Unlock()
	}
	return err
}

// Cancel sends notifications/cancelled for the request.
func (p *Pending) Cancel(reason string) error {
	var id any = p.ID.Num
	if p.ID.IsString {
		id = p.ID.Str
	}
	return p.client.Notify("notifications/cancelled", map[string]any{"requestId": id, "reason": reason})
}

// Call sends one request and waits for its answer.
func (c *Client) Call(ctx context.Context, method string, params map[string]any, v any) error {
	p, err := c.Go(method, params, CallOptions{})
	if err != nil {
		return err
	}
	return p.Wait(ctx, v)
}

// GoTool sends tools/call and does not wait.
func (c *Client) GoTool(name string, args map[string]any, o CallOptions) (*Pending, error) {
	return c.Go("tools/call", map[string]any{"name": name, "arguments": args}, o)
}

// Tool calls a tool and waits for its result.
func (c *Client) Tool(ctx context.Context, name string, args map[string]any) (Result, error) {
	p, err := c.GoTool(name, args, CallOptions{})
	if err != nil {
		return Result{}, err
	}
	var r Result
	err = p.Wait(ctx, &r)
	return r, err
}

// Notify sends one notification.
func (c *Client) Notify(method string, params map[string]any) error {
	full := make(map[string]any, len(params)+1)
	for k, v := range params {
		full[k] = v
	}
	if m := c.meta(); len(m) > 0 {
		full["_meta"] = m
	}
	return c.conn.Notify(context.Background(), method, full)
}

// Answers counts the replies that each id got, by the id's JSON text.
func (c *Client) Answers() map[string]int {
	n := map[string]int{}
	for _, l := range c.Received() {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if json.Unmarshal(l.Data, &m) == nil && m.Method == "" {
			n[strings.TrimSpace(string(m.ID))]++
		}
	}
	return n
}

// handler takes the notifications of the server. It runs on the reader.
type handler struct{ c *Client }

func (h handler) Handle(ctx context.Context, conn *jsonrpc2.Conn, r *jsonrpc2.Request) {
	if r.Params == nil {
		r.Params = &json.RawMessage{}
	}
	if r.Method == "notifications/progress" {
		var p struct {
			Token string `json:"progressToken"`
			Progress
		}
		if json.Unmarshal(*r.Params, &p) == nil {
			p.At = time.Now()
			h.c.mu.Lock()
			f := h.c.progress[p.Token]
			h.c.mu.Unlock()
			if f != nil {
				f(p.Progress)
				return
			}
		}
	}
	h.c.mu.Lock()
	h.c.notes = append(h.c.notes, []byte(fmt.Sprintf("%s %s", r.Method, *r.Params)))
	h.c.mu.Unlock()
	if !r.Notif {
		conn.ReplyWithError(ctx, r.ID, &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: "this client offers nothing"})
	}
}

// Unexpected returns the messages of the server that belong to no request of
// ours, each as "method params".
func (c *Client) Unexpected() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := make([]string, len(c.notes))
	for i, n := range c.notes {
		s[i] = string(n)
	}
	return s
}
