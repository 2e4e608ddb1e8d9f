package mcpbridge

import (
	"context"
	"io"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"swank-mcp/internal/await"
	"swank-mcp/mcpbridge/fake"
)

// A client may take as long as it likes to say where it works.
func TestRootsComeLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inR, inW := io.Pipe()
		outR, outW := io.Pipe()
		told := make(chan []string, 1)
		b := New(Options{Open: opens(&fake.Image{}), Roots: func(dirs []string) { told <- dirs }})
		ended := make(chan error, 1)
		go func() { ended <- b.Serve(context.Background(), inR, outW) }()
		client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "0"}, nil)
		//lint:ignore SA1019 clients that have roots are what is tested
		client.AddRoots(&mcp.Root{URI: "file:///home/ann/shop"})
		client.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
			return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
				if method == "roots/list" {
					time.Sleep(time.Minute)
				}
				return next(ctx, method, r)
			}
		})
		s, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: outR, Writer: inW}, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
		if err != nil {
			t.Fatal(err)
		}
		if dirs, want := await.From(t, "the roots are taken in", told), []string{"/home/ann/shop"}; !slices.Equal(dirs, want) {
			t.Errorf("it works in %v, want %v", dirs, want)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestRootDir(t *testing.T) {
	for _, c := range []struct {
		uri           string
		unix, windows string
	}{
		{"file:///home/ann/my%20shop", "/home/ann/my shop", ""},
		{"file://localhost/home/ann", "/home/ann", ""},
		{"file:///C:/Users/Ann/shop", "", `C:\Users\Ann\shop`},
		{"file:///c%3A/Users/Ann", "", `c:\Users\Ann`},
		{"file:///C:", "", `C:\`},
		{"file://server/share/shop", "", `\\server\share\shop`},
		{"https://example.org/shop", "", ""},
		{"file:shop", "", ""},
		{"file:///%zz", "", ""},
	} {
		if got := rootDir(c.uri, false); got != c.unix {
			t.Errorf("rootDir(%q) = %q, want %q", c.uri, got, c.unix)
		}
		if got := rootDir(c.uri, true); got != c.windows {
			t.Errorf("rootDir(%q) on Windows = %q, want %q", c.uri, got, c.windows)
		}
	}
}
