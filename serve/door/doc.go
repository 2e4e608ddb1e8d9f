// Package door decides who may speak to a server over HTTP, before anything of MCP is read.
//
// It owns where the server listens (listen.go), who gets a connection where descriptors run
// out (spare.go, silent.go), the tokens and whose they are (tokens.go), and the checks of each
// request: the names in Host and Origin, the token, and how many requests a principal may send
// (door.go). It knows neither Lisp nor MCP. Package serve uses it.
//
// Begin with [Door.Guard].
package door
