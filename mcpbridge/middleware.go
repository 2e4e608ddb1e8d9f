package mcpbridge

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"swank-mcp/mcpbridge/args"
	"swank-mcp/mcpbridge/rawtext"
	"swank-mcp/mcpbridge/render"
	"swank-mcp/mcpbridge/stdio"
	"swank-mcp/mcpbridge/tools"
)

// guard wraps every method. It cancels the handler when its connection ends (the SDK
// waits for handlers without cancelling them), answers a panic with an error, and
// corrects the names of tools.
func (b *Bridge) guard(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (res mcp.Result, err error) {
		growStack(0)
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		defer context.AfterFunc(b.lifeOf(ctx), func() { cancel(tools.ErrShutdown) })()
		defer func() {
			if v := recover(); v != nil {
				b.o.Log.Error("handler panicked", "method", method, "panic", v, "stack", string(debug.Stack()))
				res, err = b.panicked(ctx, method, req, v)
			}
		}()
		if call, ok := req.(*mcp.CallToolRequest); ok {
			if err := b.resolveName(call.Params); err != nil {
				return nil, err
			}
		}
		if read, ok := req.(*mcp.ReadResourceRequest); ok {
			defer func(uri string) { answerURI(res, uri) }(read.Params.URI)
			read.Params.URI = escapeURI(read.Params.URI)
		}
		res, err = next(ctx, method, req)
		if list, ok := res.(*mcp.ListToolsResult); ok && list != nil {
			list.Tools = slices.DeleteFunc(list.Tools, func(t *mcp.Tool) bool { return !b.offers(t.Name) })
		}
		if init, ok := req.(*mcp.ServerRequest[*mcp.InitializeParams]); ok && err != nil && init.Session.InitializeParams() != nil {
			return b.initializeAgain(init.Params), nil
		}
		return res, err
	}
}

// growStack makes the stack of a request's goroutine, which is new, as large as a call
// needs, at once: growing by and by it would be copied several times, ever deeper.
//
//go:noinline
func growStack(any byte) byte {
	var room [8 << 10]byte
	return room[any]
}

// initializeAgain answers an initialize that comes after a request of the
// newer era, as from a client that probes with server/discover first. The SDK
// takes that for the second of two, and the client would go away.
func (b *Bridge) initializeAgain(p *mcp.InitializeParams) *mcp.InitializeResult {
	version := lastHandshake
	if p.ProtocolVersion < version && slices.Contains(mcp.SupportedProtocolVersions(), p.ProtocolVersion) {
		version = p.ProtocolVersion
	}
	return &mcp.InitializeResult{
		ProtocolVersion: version,
		Capabilities:    capabilities(),
		Instructions:    b.instructions(),
		ServerInfo:      b.implementation(),
	}
}

// lastHandshake is the last version of the protocol that has initialize.
const lastHandshake = "2025-11-25"

func (b *Bridge) panicked(ctx context.Context, method string, req mcp.Request, v any) (mcp.Result, error) {
	text := fmt.Sprintf("the server failed in %s: %v", method, v)
	if call, ok := req.(*mcp.CallToolRequest); ok {
		return b.workspace(ctx, call.Session).result(tools.Reply{Text: render.Error("INTERNAL-ERROR", text, "This is a fault of swank-mcp, not of the code; the session goes on."), Failed: true}), nil
	}
	return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: rawtext.Clip(text, stdio.MaxErrorMessage)}
}

// resolveName accepts evaluate_lisp for evaluate-lisp. It answers an unknown
// name with the known ones, and one that a flag forbids with how to have it.
func (b *Bridge) resolveName(p *mcp.CallToolParamsRaw) error {
	var names []string
	for _, t := range b.taken {
		if tools.SameName(t.Name, p.Name) {
			p.Name = t.Name
			return nil
		}
		names = append(names, t.Name)
	}
	text := fmt.Sprintf("unknown tool %q.", rawtext.Clip(p.Name, 60))
	if t := tools.Find(p.Name); t != nil {
		text = b.o.Tools.absence(t)
	} else if near := args.Nearest(p.Name, names); near != "" {
		text += fmt.Sprintf(" Nearest: %q.", near)
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: text + " Valid: " + strings.Join(names, ", ") + "."}
}
