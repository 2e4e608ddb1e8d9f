package hub

import (
	"context"
	"io"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// quiet is a connection on which nothing comes, as of a client that has gone without a word.
type quiet struct {
	id     string
	closed chan struct{}
	once   *sync.Once
}

// connect begins a connection of s, and returns its id.
func connect(t *testing.T, s *Session) (id string) {
	t.Helper()
	q := quiet{s.newID(), make(chan struct{}), new(sync.Once)}
	if _, err := s.Work().Bridge.Server().Connect(context.Background(), q, nil); err != nil {
		t.Fatal(err)
	}
	return q.id
}

func (q quiet) Connect(context.Context) (mcp.Connection, error) { return q, nil }

func (q quiet) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case <-q.closed:
	case <-ctx.Done():
	}
	return nil, io.EOF
}

func (q quiet) Write(context.Context, jsonrpc.Message) error { return nil }

func (q quiet) Close() error {
	q.once.Do(func() { close(q.closed) })
	return nil
}

func (q quiet) SessionID() string { return q.id }
