// Command mcpgo drives an MCP server over stdio with mark3labs/mcp-go and
// prints one JSON line for each step; the e2e test judges them. With a URL in the
// place of the command it does so over HTTP, with the token LISP_TOKEN.
//
//	mcpgo 2025-11-25|2026-07-28 COMMAND|URL [ARGUMENT…]
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: mcpgo ERA COMMAND [ARGUMENT…]")
		os.Exit(2)
	}
	if err := drive(os.Args[1], os.Args[2], os.Args[3:]); err != nil {
		fmt.Fprintln(os.Stderr, "mcpgo:", err)
		os.Exit(1)
	}
}

func say(step string, fields map[string]any) {
	fields["step"] = step
	line, _ := json.Marshal(fields)
	fmt.Println(string(line))
}

func drive(era, command string, args []string) error {
	ctx, stop := context.WithTimeout(context.Background(), 2*time.Minute)
	defer stop()
	var t transport.Interface = transport.NewStdioWithOptions(command, nil, args, transport.WithCommandStderrWriter(os.Stderr))
	seconds := 10
	if strings.HasPrefix(command, "http") {
		seconds = 2
		var err error
		t, err = transport.NewStreamableHTTP(command, transport.WithHTTPHeaders(map[string]string{"Authorization": "Bearer " + os.Getenv("LISP_TOKEN")}))
		if err != nil {
			return err
		}
	}
	c := client.NewClient(t, client.WithProtocolVersion(era))
	dir, err := os.MkdirTemp("", "gate-")
	if err != nil {
		return err
	}
	gate := filepath.Join(dir, "line-")
	var mu sync.Mutex
	messages := []string{}
	c.OnNotification(func(n mcp.JSONRPCNotification) {
		if n.Method == "notifications/progress" {
			mu.Lock()
			defer mu.Unlock()
			messages = append(messages, fmt.Sprint(n.Params.AdditionalFields["message"]))
			if strings.Contains(strings.Join(messages, ""), "line 0") {
				os.WriteFile(gate+"0", nil, 0o600)
				if len(messages) > 1 {
					os.WriteFile(gate+"1", nil, 0o600)
				}
			}
		}
	})
	if err := c.Start(ctx); err != nil {
		return err
	}
	defer c.Close()
	req := mcp.InitializeRequest{}
	req.Params.ProtocolVersion = era
	req.Params.ClientInfo = mcp.Implementation{Name: "mcp-go", Version: "1"}
	init, err := c.Initialize(ctx, req)
	if err != nil {
		return fmt.Errorf("opening: %w", err)
	}
	say("open", map[string]any{"version": init.ProtocolVersion, "server": init.ServerInfo.Name})

	list, err := c.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil {
		return fmt.Errorf("listing tools: %w", err)
	}
	names := []string{}
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	say("tools", map[string]any{"names": names})

	call := func(ctx context.Context, tool string, arguments map[string]any, meta *mcp.Meta) (map[string]any, error) {
		var r mcp.CallToolRequest
		r.Params.Name = tool
		r.Params.Arguments = arguments
		r.Params.Meta = meta
		out, err := c.CallTool(ctx, r)
		if err != nil {
			return nil, fmt.Errorf("calling %s %q: %w", tool, arguments, err)
		}
		var texts []string
		for _, block := range out.Content {
			if text, ok := block.(mcp.TextContent); ok {
				texts = append(texts, text.Text)
			}
		}
		return map[string]any{"text": strings.Join(texts, "\x00"), "blocks": len(out.Content),
			"isError": out.IsError, "structured": out.StructuredContent != nil}, nil
	}
	evaluate := func(ctx context.Context, code string, meta *mcp.Meta) (map[string]any, error) {
		return call(ctx, "evaluate-lisp", map[string]any{"code": code}, meta)
	}
	for _, s := range []struct{ step, code string }{
		{"define", "(defvar *kept* 41)"}, {"evaluate", "(+ 1 *kept*)"}, {"error", "(/ 1 0)"},
	} {
		r, err := evaluate(ctx, s.code, nil)
		if err != nil {
			return err
		}
		say(s.step, r)
	}
	hidden, err := call(ctx, "list-threads", map[string]any{}, nil)
	if err != nil {
		return err
	}
	say("hidden", hidden)

	// The code goes on when a first notification with its output, and a second one, have come. An
	// image in a sandbox does not see the files that say so, and goes on after some seconds.
	r, err := evaluate(ctx, fmt.Sprintf(`(dotimes (i 4) (format t "line ~D~%%" i) (finish-output)
  (when (< i 2) (loop with end = (+ (get-universal-time) %d)
                      until (or (probe-file (format nil "%s~D" i)) (> (get-universal-time) end)) do (sleep 0.01))))`, seconds, gate),
		&mcp.Meta{ProgressToken: "slow"})
	if err != nil {
		return err
	}
	mu.Lock()
	r["messages"] = messages
	mu.Unlock()
	say("progress", r)

	cancelled, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
	start := time.Now()
	_, err = evaluate(cancelled, "(sleep 100)", nil)
	cancel()
	say("cancel", map[string]any{"error": fmt.Sprint(err), "ms": time.Since(start).Seconds() * 1000})

	start = time.Now()
	if r, err = evaluate(ctx, "(list (+ 1 2) *kept*)", nil); err != nil {
		return err
	}
	r["ms"] = time.Since(start).Seconds() * 1000
	say("after", r)
	return nil
}
