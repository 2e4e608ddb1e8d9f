// Package serve serves MCP over HTTP to many clients, each session with a Lisp image of its
// own.
//
// It owns the addresses (/mcp, /s/NAME/mcp, /sessions, /healthz, /readyz, /metrics), which era
// of the protocol a request is of (era.go), the way of a request to its session (route.go),
// how an answer is written (stream.go), and the end (serve.go). Package door decides who may come in; package hub has the sessions. Only
// cmd may import it.
//
// Begin with [Server.Serve].
package serve
