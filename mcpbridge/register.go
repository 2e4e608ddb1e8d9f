package mcpbridge

import (
	"context"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"swank-mcp/mcpbridge/args"
	"swank-mcp/mcpbridge/rawtext"
	"swank-mcp/mcpbridge/tools"
	"swank-mcp/swank/lisp"
)

// describeTool is the tool as tools/list shows it.
func describeTool(t *tools.Tool, l tools.Limits) *mcp.Tool {
	destructive := t.Destructive || t.Writes != ""
	return &mcp.Tool{
		Name:        t.Name,
		Title:       t.Title,
		Description: t.Doc,
		InputSchema: args.Schema(t.Spec(l).Params),
		Annotations: &mcp.ToolAnnotations{
			Title:           t.Title,
			ReadOnlyHint:    t.ReadOnly && t.Writes == "",
			DestructiveHint: &destructive,
			IdempotentHint:  t.Idempotent,
			OpenWorldHint:   &t.OpenWorld,
		},
	}
}

func (b *Bridge) register(t *tools.Tool) {
	takes := t.Spec(b.o.limits())
	b.server.AddTool(describeTool(t, b.o.limits()), func(ctx context.Context, call *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		w := b.workspace(ctx, call.Session)
		arguments := w.aside.Take(call.Params.Arguments)
		r := &tools.Request{Args: args.Parse(takes, arguments), Env: w.env(), Progress: progress(ctx, call)}
		switch inTurn := t.InTurn != nil && t.InTurn(r.Args); {
		case inTurn:
			place := r.Session.Queue(t.Name)
			defer place.Leave()
			ctx = place.Within(ctx)
		case t.First:
			defer r.Session.Queue(t.Name).Leave()
		}
		if p := call.Session.InitializeParams(); p != nil && p.ClientInfo != nil {
			ctx = lisp.OfVersion(lisp.ByClient(ctx, p.ClientInfo.Name), p.ClientInfo.Version)
		}
		ctx = lisp.ByTool(ctx, t.Name)
		w.order.Admit()
		if !t.OnlyLooks(r.Args) {
			return w.result(t.Answer(ctx, r)), nil
		}
		look := lisp.Look{Arguments: firstPart(arguments), Began: time.Now()}
		reply := t.Answer(ctx, r)
		if reply.Failed {
			look.Failed, _, _ = strings.Cut(reply.Text, "\n")
		}
		r.Session.Looked(ctx, look)
		return w.result(reply), nil
	})
}

// firstPart is what people see of arguments: on one line, at most 200 bytes.
func firstPart(arguments []byte) string {
	return rawtext.Clip(strings.Join(strings.Fields(string(arguments[:min(len(arguments), 1000)])), " "), 200)
}
