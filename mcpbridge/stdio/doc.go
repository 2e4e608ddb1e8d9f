// Package stdio is the MCP transport over a pair of streams, one JSON-RPC message
// per line.
//
// It owns the lines: how they are read, judged and answered (codec.go, message.go),
// which calls are in flight (calls.go), how much memory they may take together
// (budget.go), in which order they reach their handlers (order.go), and how a pipe is
// read without a thread that waits in it (poll_unix.go). It knows JSON-RPC and no
// tool. Package mcpbridge uses it.
//
// Begin with [Transport.Connect].
package stdio
