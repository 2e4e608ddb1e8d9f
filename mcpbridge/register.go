package mcpbridge

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"swank-mcp/mcpbridge/args"
	"swank-mcp/mcpbridge/tools"
)

// describeTool is the tool as tools/list shows it.
func describeTool(t *tools.Tool, l tools.Limits) *mcp.Tool {
	return &mcp.Tool{
		Name:        t.Name,
		Title:       t.Title,
		Description: t.Doc,
		InputSchema: args.Schema(t.Params(l)),
		Annotations: &mcp.ToolAnnotations{
			Title:           t.Title,
			ReadOnlyHint:    t.ReadOnly,
			DestructiveHint: &t.Destructive,
			IdempotentHint:  t.Idempotent,
			OpenWorldHint:   &t.OpenWorld,
		},
	}
}

// register gives the tool to the server.
func (b *Bridge) register(t *tools.Tool) {
	takes := t.Spec(b.o.limits())
	b.server.AddTool(describeTool(t, b.o.limits()), func(ctx context.Context, call *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		order, arguments := orderOf(ctx), call.Params.Arguments
		if kept := order.Arguments(); kept != nil {
			arguments = kept
		}
		if !t.Ordered {
			order.Admit()
		}
		r := &tools.Request{Args: args.Parse(takes, arguments), Env: b.env(), Admit: order.Admit, Progress: progress(ctx, call)}
		return b.result(t.Answer(ctx, r)), nil
	})
}

// env is what the tools work with.
func (b *Bridge) env() tools.Env {
	return tools.Env{
		Image: b.o.Image, Session: b.o.Session, Spool: &b.spool, Limits: b.o.limits(),
		SessionDir: b.o.SessionDir, Kept: b.o.Kept, Takes: b.takes,
	}
}

// maxErrorOutput is how many characters of an error are shown: hosts cut those of
// more than about 10,000.
const maxErrorOutput = 8_000

// result is a reply as the protocol wants it, within the limits of size.
func (b *Bridge) result(r tools.Reply) *mcp.CallToolResult {
	limit := b.o.MaxOutput
	if r.Failed {
		limit = min(limit, maxErrorOutput)
	}
	return &mcp.CallToolResult{
		Content: []mcp.Content{&mcp.TextContent{Text: b.spool.Cut(r.Text, limit)}},
		IsError: r.Failed,
	}
}
