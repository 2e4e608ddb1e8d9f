// Package tools has the tools, one file each.
//
// It owns what clients see of a tool ([Tool]) and what the tool does: which arguments
// it takes, what it asks of the [Session], and the text that it answers. A tool knows no
// server: its [Request] has all that it works with. Package mcpbridge gives the
// tools to clients; [ErrorText] is for cmd, too.
//
// Begin with evaluate_lisp.go, which is named after its tool as every file of a tool
// is, and with [Tool.Answer], which carries out a call. To add a tool, write such a file
// and put its name into the list of tools.go; docs/development.md tells the rest.
package tools
