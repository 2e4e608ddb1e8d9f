package serve

import (
	"context"
	"net"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"swank-mcp/internal/nofiles"
	"swank-mcp/serve/door"
)

type poorKey struct{}

// notePoor is for http.Server.ConnContext.
func notePoor(ctx context.Context, c net.Conn) context.Context {
	if door.Poor(c) {
		return context.WithValue(ctx, poorKey{}, true)
	}
	return ctx
}

// rich answers what comes on a connection for which there was no descriptor that the server can
// open no more files; a client that has its connection goes on.
func rich(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Context().Value(poorKey{}) == nil {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Connection", "close")
		refuse(w, http.StatusServiceUnavailable, nil, noFiles())
	})
}

// noFiles is the answer where no more files can be opened.
func noFiles() *jsonrpc.Error {
	return &jsonrpc.Error{Code: codeRefused, Message: "This could not be done, because " + nofiles.Problem() + ". " + nofiles.Advice}
}
