// Package mcpbridge serves a Lisp image to MCP clients.
//
// It owns the [Bridge]: the MCP server with its tools, resources, prompts and
// completions, and what belongs to each connection. It knows the MCP SDK, and so
// does stdio; the other packages below it do not. Only cmd may import it.
//
// Begin with [Bridge.Serve]. A call goes this way: a line of stdin becomes a message
// in package stdio, the SDK gives it to the middleware (middleware.go) and to the
// tool's handler (register.go); package args reads its arguments, the tool, in
// package tools, asks the image, and package render makes the text of its answer;
// spool keeps what is too long of it, and stdio writes the reply.
//
// What the model reads is text made here: one block, no structured content, as the
// hosts show only one of the two.
package mcpbridge
