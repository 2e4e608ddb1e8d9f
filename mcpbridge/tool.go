package mcpbridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"swank-mcp/swank/lisp"
)

// tool is one tool: what the client sees of it, and what it does.
type tool struct {
	name    string // also what the errors call it
	title   string
	doc     string // under 1,000 characters; the first sentence decides
	params  func(*Options) []param
	example string // arguments of a call that works, for errors

	// The four hints of the protocol.
	readOnly, destructive, idempotent, openWorld bool

	// ordered tools take their place in a queue, and call order.admit then.
	ordered bool

	run func(*Bridge, context.Context, *request) (reply, error)
}

// kind is the JSON type of a parameter.
type kind string

const (
	kindText    kind = "string"
	kindNumber  kind = "number"
	kindInteger kind = "integer"
	kindFlag    kind = "boolean"
)

// param is one parameter of a tool.
type param struct {
	name     string
	kind     kind
	doc      string
	required bool
	hidden   bool                // accepted, not advertised
	def      any                 // default, shown in the schema: string, float64 or nil
	enum     []string            // the valid strings
	fold     func(string) string // makes a string one of enum that means it
	min, max float64             // bounds of a number
	above    bool                // the number must be more than min
	aliases  []alias             // accepted, never advertised
}

// alias is another name of a parameter. An argument given by it is multiplied
// by scale, if that is not zero.
type alias struct {
	name  string
	scale float64
}

func (a alias) factor() float64 {
	if a.scale == 0 {
		return 1
	}
	return a.scale
}

func (p *param) bounds() string {
	if p.above {
		return fmt.Sprintf("more than %s and at most %s", plainNumber(p.min), plainNumber(p.max))
	}
	return fmt.Sprintf("from %s to %s", plainNumber(p.min), plainNumber(p.max))
}

// request is one call of a tool.
type request struct {
	*args
	mcp *mcp.CallToolRequest
}

// reply is what a tool answers: one text, and whether it failed.
type reply struct {
	text   string
	failed bool

	failure *lisp.Failure // from which the next call may be told; may be nil
}

// schema is the JSON schema of the parameters, in their order. It is written
// here, not inferred: no unions, nothing that a strict client refuses.
func schema(params []param) json.RawMessage {
	var props, required []string
	for _, p := range params {
		if p.hidden {
			continue
		}
		fields := []string{`"type":` + strconv.Quote(string(p.kind)), `"description":` + quote(p.doc)}
		if p.kind == kindNumber || p.kind == kindInteger {
			// Not exclusiveMinimum: some hosts refuse schemas that have it.
			fields = append(fields, `"minimum":`+plainNumber(p.min), `"maximum":`+plainNumber(p.max))
		}
		if len(p.enum) > 0 {
			fields = append(fields, `"enum":`+quote(p.enum))
		}
		if p.def != nil {
			fields = append(fields, `"default":`+quote(p.def))
		}
		props = append(props, quote(p.name)+":{"+strings.Join(fields, ",")+"}")
		if p.required {
			required = append(required, p.name)
		}
	}
	s := `{"type":"object","properties":{` + strings.Join(props, ",") + `}`
	if len(required) > 0 {
		s += `,"required":` + quote(required)
	}
	return json.RawMessage(s + `,"additionalProperties":false}`)
}

// quote is v as JSON; the values here (strings, floats, slices of strings) always have one.
func quote(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// describe is the tool as tools/list shows it.
func (t *tool) describe(o *Options) *mcp.Tool {
	return &mcp.Tool{
		Name:        t.name,
		Title:       t.title,
		Description: t.doc,
		InputSchema: schema(t.params(o)),
		Annotations: &mcp.ToolAnnotations{
			Title:           t.title,
			ReadOnlyHint:    t.readOnly,
			DestructiveHint: &t.destructive,
			IdempotentHint:  t.idempotent,
			OpenWorldHint:   &t.openWorld,
		},
	}
}

// register gives the tool to the server. An error of run becomes its text.
func (t *tool) register(b *Bridge) {
	params := t.params(&b.o)
	b.server.AddTool(t.describe(&b.o), func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		arguments := req.Params.Arguments
		if kept := orderOf(ctx).arguments(); kept != nil {
			arguments = kept
		}
		if !t.ordered {
			orderOf(ctx).admit()
		}
		r := &request{args: parseArgs(t, params, arguments), mcp: req}
		var out reply
		var err error
		if r.err != nil {
			err = r.err
		} else {
			out, err = t.run(b, ctx, r)
		}
		if err != nil {
			if r.err != nil && err == error(r.err) && r.err.advice == "" {
				r.err.advice = r.next()
			}
			out = reply{text: ErrorText(err), failed: true}
		}
		next := b.nextAfter(r, out.failure)
		if gone := (*lisp.DebuggerError)(nil); errors.As(err, &gone) {
			next = b.nextDebuggee(gone)
		}
		if next != "" {
			out.text += "\n\n" + sanitize(next)
		}
		return b.result(out), nil
	})
}

// result is a reply as the protocol wants it, within the limits of size.
func (b *Bridge) result(r reply) *mcp.CallToolResult {
	limit := b.o.MaxOutput
	if r.failed {
		limit = min(limit, maxErrorOutput)
	}
	return &mcp.CallToolResult{
		Content: []mcp.Content{&mcp.TextContent{Text: b.spool.cut(r.text, limit)}},
		IsError: r.failed,
	}
}
