// Package register writes a stdio MCP server into the configuration of the clients that
// start it: their file, the user's or a project's, in which everything else stays as it
// was, to the byte.
//
// Begin with [Clients] and [Client.Add]. client.go has the table of the clients, file.go
// how a file is replaced, json.go and toml.go how its text is edited. An edit is checked
// before it is written: read again, the new text must say what the old one said, and the
// server.
package register
