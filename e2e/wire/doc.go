// Package wire is an MCP client for tests that shares no code with the server:
// it stands on sourcegraph/jsonrpc2, imports neither the MCP SDK nor any
// package of ours, and knows only what the specification says about bytes.
//
// Its stream refuses whatever is not exactly one UTF-8 JSON text on each line,
// and records both directions, so that a test can also assert what was never
// sent. It speaks both eras of the protocol (see [Era]), and can misbehave on
// purpose: raw bytes, chosen ids, cancellations, a server killed in mid-reply.
package wire
