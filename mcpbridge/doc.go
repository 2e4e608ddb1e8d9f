// Package mcpbridge serves a Lisp image to MCP clients: the tools, their
// text, and the stdio transport.
//
// A call goes this way: a line of stdin becomes a message in [Stdio]
// (stdio_codec.go, stdio_message.go), the SDK gives it to the middleware
// (middleware.go), the tool reads its arguments (args.go), asks the [Image],
// and renders the result (render.go, cut.go); the transport writes the reply.
//
// A tool is one file, tool_xxx.go, and one word in the list of tools.go. What
// the model reads is text made here: one block, no structured content, as the
// hosts show only one of the two.
//
// # Characters
//
// Text of the image is data. Control characters other than newline and tab,
// and bidirectional embeddings, overrides and isolates, are shown as \u{1B}
// or \u{202E}: hexadecimal, upper case, no padding. Bytes that are not UTF-8
// become U+FFFD. Everything else, emoji included, passes as it is.
package mcpbridge
