package mcpbridge

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// describeTool is the tool as tools/list shows it.
func describeTool(t *tool, l limits) *mcp.Tool {
	return &mcp.Tool{
		Name:        t.name,
		Title:       t.title,
		Description: t.doc,
		InputSchema: schema(t.params(l)),
		Annotations: &mcp.ToolAnnotations{
			Title:           t.title,
			ReadOnlyHint:    t.readOnly,
			DestructiveHint: &t.destructive,
			IdempotentHint:  t.idempotent,
			OpenWorldHint:   &t.openWorld,
		},
	}
}

// register gives the tool to the server.
func (b *Bridge) register(t *tool) {
	takes := t.spec(b.o.limits())
	b.server.AddTool(describeTool(t, b.o.limits()), func(ctx context.Context, call *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		order, arguments := orderOf(ctx), call.Params.Arguments
		if kept := order.arguments(); kept != nil {
			arguments = kept
		}
		if !t.ordered {
			order.admit()
		}
		r := &request{args: parseArgs(takes, arguments), env: b.env(), admit: order.admit, progress: progress(ctx, call)}
		return b.result(t.answer(ctx, r)), nil
	})
}

// env is what the tools work with.
func (b *Bridge) env() env {
	return env{
		image: b.o.Image, session: b.o.Session, spool: &b.spool, limits: b.o.limits(),
		sessionDir: b.o.SessionDir, kept: b.o.Kept, takes: b.takes,
	}
}

// maxErrorOutput is how many characters of an error are shown: hosts cut those of
// more than about 10,000.
const maxErrorOutput = 8_000

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
