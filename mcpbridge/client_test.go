package mcpbridge

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"swank-mcp/internal/await"
	"swank-mcp/mcpbridge/fake"
	"swank-mcp/mcpbridge/tools"
)

// eras are the protocol versions of either side of the break: with the
// handshake, and without.
var eras = []string{"2024-11-05", "2025-11-25", "2026-07-28"}

// connect gives the SDK's client a bridge over pipes.
func connect(t *testing.T, version string, image *fake.Image, o *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	return connectWith(t, version, Options{Open: opens(image), Tools: everyTool}, o)
}

func connectWith(t *testing.T, version string, served Options, o *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	b := New(served)
	ended := make(chan error, 1)
	go func() { ended <- b.Serve(context.Background(), inR, outW) }()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "0"}, o)
	s, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: outR, Writer: inW}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("closing the client: %v", err)
		}
		if err := <-ended; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return s
}

func TestSDKClient(t *testing.T) {
	for _, version := range eras {
		t.Run(version, func(t *testing.T) {
			image := &fake.Image{}
			var mu sync.Mutex
			var progress []*mcp.ProgressNotificationParams
			s := connect(t, version, image, &mcp.ClientOptions{
				ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
					mu.Lock()
					defer mu.Unlock()
					progress = append(progress, r.Params)
				},
			})
			ctx := t.Context()
			list, err := s.ListTools(ctx, nil)
			if err != nil || len(list.Tools) != len(tools.All()) {
				t.Fatalf("tools/list: %+v, %v", list, err)
			}
			call := func(ctx context.Context, code string, token any) (string, error) {
				p := &mcp.CallToolParams{Name: "evaluate-lisp", Arguments: map[string]any{"code": code}}
				if token != nil {
					p.SetProgressToken(token)
				}
				r, err := s.CallTool(ctx, p)
				if err != nil {
					return "", err
				}
				if len(r.Content) != 1 || r.StructuredContent != nil {
					return "", fmt.Errorf("%d blocks, structured %v", len(r.Content), r.StructuredContent)
				}
				return r.Content[0].(*mcp.TextContent).Text, nil
			}
			if got, err := call(ctx, "(+ 1 2)", nil); got != "=> 3" || err != nil {
				t.Errorf("got %q, %v", got, err)
			}
			if got, err := call(ctx, "progress", nil); got != "=> no progress" || err != nil {
				t.Errorf("without a token: %q, %v", got, err)
			}

			if got, err := call(ctx, "progress", "tok"); got != "=> done" || err != nil {
				t.Errorf("got %q, %v", got, err)
			}
			await.True(t, "four reports of progress", func() bool { mu.Lock(); defer mu.Unlock(); return len(progress) == 4 })
			last := -1.0
			for i, p := range progress {
				want := fmt.Sprintf("line %d\n", i)
				if i == 3 {
					want = "running for 5 s"
				}
				if p.ProgressToken != "tok" || p.Progress <= last || p.Message != want {
					t.Errorf("progress %d: %+v after %v", i, p, last)
				}
				last = p.Progress
			}

			cancelled, cancel := context.WithCancel(ctx)
			go func() {
				await.True(t, "the evaluation to run", func() bool { return image.Running() == 1 })
				cancel()
			}()
			if got, err := call(cancelled, "hang", nil); err == nil {
				t.Errorf("cancelled call answered %q", got)
			}
			await.True(t, "the evaluation to end", func() bool { return image.Running() == 0 })
			if got, err := call(ctx, "echo λ 😀", nil); got != "=> λ 😀" || err != nil {
				t.Errorf("after the cancellation: %q, %v", got, err)
			}
		})
	}
}

// TestSDKClientOnDemand: the SDK's client calls a tool that it is not shown.
func TestSDKClientOnDemand(t *testing.T) {
	for _, version := range eras {
		t.Run(version, func(t *testing.T) {
			s := connectWith(t, version, Options{Open: opens(&fake.Image{})}, nil)
			list, err := s.ListTools(t.Context(), nil)
			if err != nil || len(list.Tools) >= len(tools.All()) {
				t.Fatalf("tools/list: %+v, %v", list, err)
			}
			for _, tool := range list.Tools {
				if tool.Name == "list-threads" {
					t.Error("list-threads is shown")
				}
			}
			r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "list-threads"})
			if err != nil || r.IsError {
				t.Errorf("list-threads: %+v, %v", r, err)
			}
		})
	}
}

// TestBothEras: a process serves the versions as they come, without a handshake first.
func TestBothEras(t *testing.T) {
	p := serve(t, Options{})
	modern := func(id, method, params string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
			`"io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"t","version":"0"}}` + params + `}}`
	}
	p.send(initialize, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	p.receive()
	p.send(modern("1", "server/discover", ""))
	if a := p.receive(); a.Error != nil || !strings.Contains(string(a.RawResult), "2026-07-28") {
		t.Errorf("server/discover: %s %+v", a.RawResult, a.Error)
	}
	p.send(modern("2", "tools/call", `,"name":"evaluate-lisp","arguments":{"code":"x"}`))
	if a := p.receive(); a.text() != "=> 3" || !strings.Contains(string(a.RawResult), `"resultType":"complete"`) {
		t.Errorf("modern call: %s %+v", a.RawResult, a.Error)
	}
	p.alive()

	// A client that probes first and then takes the handshake, on one process.
	p = serve(t, Options{Version: "1.2.3"})
	p.send(modern("1", "server/discover", ""))
	p.receive()
	for _, version := range []string{"2024-11-05", "2025-11-25", "2026-07-28", "x"} {
		p.send(strings.Replace(initialize, "2025-11-25", version, 1))
		want := version
		if !slices.Contains(eras[:2], version) {
			want = "2025-11-25"
		}
		if a := p.receive(); a.Error != nil || !strings.Contains(string(a.RawResult), `"protocolVersion":"`+want+`"`) ||
			!strings.Contains(string(a.RawResult), `"version":"1.2.3"`) {
			t.Errorf("initialize %s: %s %+v", version, a.RawResult, a.Error)
		}
	}
	p.alive()
}
