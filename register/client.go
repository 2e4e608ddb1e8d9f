package register

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// ServerName is what clients call the server.
const ServerName = "lisp"

// Server is how a client is to start the server.
type Server struct {
	Command string   // a name that PATH finds, or a whole path
	Args    []string // may be nil
}

// A Client is a program that starts MCP servers.
type Client struct {
	Name  string // as a user names it: lower case and hyphens
	Title string // as its makers write it
	Next  string // what a user does so that it finds the server: a sentence

	format  format
	key     string   // the name of the servers in the file
	project string   // its file in a project, "" if it has none
	user    []string // its file: of a home directory or what stands for it, then below that
	extra   []member // of an entry, beside the command and its arguments
}

// format is the text of a client's file.
type format int

const (
	asJSON format = iota // with comments, if there are any
	asTOML
	asLisp    // shown only
	byCommand // the file of the project is JSON; that of the user is written by the client itself
)

// member is a part of an entry that is not there yet.
type member struct {
	name  string
	value any
}

// What stands for directories in Client.user.
const (
	home      = "~"
	configDir = "config" // of the system, as the desktop's programs have it
	dotConfig = ".config"
)

// Clients are those that are known, in the order in which they are shown.
func Clients() []Client {
	appData := runtime.GOOS == "windows"
	zed := []string{dotConfig, "zed", "settings.json"}
	if appData {
		zed = []string{configDir, "Zed", "settings.json"}
	}
	codex := []string{home, ".codex", "config.toml"}
	if dir := os.Getenv("CODEX_HOME"); dir != "" {
		codex = []string{dir, "config.toml"}
	}
	restart := func(what string) string { return "Restart " + what + "." }
	return []Client{
		{Name: "claude-code", Title: "Claude Code", format: byCommand, key: "mcpServers", project: ".mcp.json",
			extra: []member{{"type", "stdio"}},
			Next:  "Start Claude Code anew; /mcp shows the server."},
		{Name: "claude-desktop", Title: "Claude Desktop", key: "mcpServers",
			user: []string{configDir, "Claude", "claude_desktop_config.json"}, Next: restart("Claude Desktop")},
		{Name: "codex", Title: "Codex", format: asTOML, key: "mcp_servers", project: ".codex/config.toml", user: codex,
			extra: []member{{"tool_timeout_sec", 600}}, Next: "Start Codex anew; /mcp shows the server."},
		{Name: "cursor", Title: "Cursor", key: "mcpServers", project: ".cursor/mcp.json",
			user: []string{home, ".cursor", "mcp.json"}, Next: "Turn the server on in Cursor's settings, under MCP."},
		{Name: "vscode", Title: "VS Code", key: "servers", project: ".vscode/mcp.json",
			user: []string{configDir, "Code", "User", "mcp.json"}, extra: []member{{"type", "stdio"}},
			Next: "Start the server with VS Code's command \"MCP: List Servers\"."},
		{Name: "zed", Title: "Zed", key: "context_servers", project: ".zed/settings.json", user: zed,
			extra: []member{{"env", map[string]any{}}}, Next: "Zed reads the file at once; the settings of its agent show the server."},
		{Name: "gemini", Title: "Gemini CLI", key: "mcpServers", project: ".gemini/settings.json",
			user: []string{home, ".gemini", "settings.json"}, extra: []member{{"timeout", 600000}},
			Next: "Start Gemini CLI anew; /mcp shows the server."},
		{Name: "eca", Title: "ECA", key: "mcpServers", project: ".eca/config.json",
			user: []string{dotConfig, "eca", "config.json"}, Next: restart("ECA")},
		{Name: "emacs", Title: "Emacs with mcp.el", format: asLisp, Next: "M-x mcp-hub starts the server."},
	}
}

// Names are the names of the clients.
func Names() (names []string) {
	for _, c := range Clients() {
		names = append(names, c.Name)
	}
	return names
}

// Find returns the client of that name.
func Find(name string) (*Client, bool) {
	all := Clients()
	i := slices.IndexFunc(all, func(c Client) bool { return c.Name == name })
	if i < 0 {
		return nil, false
	}
	return &all[i], true
}

// Snippet is a whole file of the client that has the server and nothing else; of Emacs,
// what adds the server to others.
func (c *Client) Snippet(s Server) string {
	switch c.format {
	case asLisp:
		return lispSnippet(s)
	case asTOML:
		return tomlTable(c, s)
	}
	text, _ := addJSON(nil, c, s) // of an empty file it cannot fail
	return string(text)
}

func lispSnippet(s Server) string {
	quote := func(v string) string { return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(v) + `"` }
	args := ""
	if len(s.Args) > 0 {
		var quoted []string
		for _, a := range s.Args {
			quoted = append(quoted, quote(a))
		}
		args = " :args (" + strings.Join(quoted, " ") + ")"
	}
	return "(require 'mcp-hub)\n(add-to-list 'mcp-hub-servers '(" + quote(ServerName) + " . (:command " + quote(s.Command) + args + ")))\n"
}

// entry are the members of the server's entry, in the order in which they are written.
func (c *Client) entry(s Server) []member {
	entry := slices.Clone(c.extra)
	at := slices.IndexFunc(entry, func(m member) bool { return m.name == "type" }) + 1
	return slices.Insert(entry, at, member{"command", s.Command}, member{"args", slicesOf(s.Args)})
}

// Shown reports whether the client's configuration can only be shown.
func (c *Client) Shown() bool { return c.format == asLisp }

// ByCommand reports whether the client itself must write the configuration of the user.
func (c *Client) ByCommand() bool { return c.format == byCommand }

// OfUser is the client's file of this user.
func (c *Client) OfUser() (Place, error) {
	top, err := os.UserHomeDir()
	if err != nil || len(c.user) == 0 {
		return Place{}, err
	}
	path := slices.Clone(c.user)
	switch path[0] {
	case home:
		path[0] = top
	case configDir:
		if path[0], err = os.UserConfigDir(); err != nil {
			return Place{}, err
		}
	case dotConfig:
		if path[0] = os.Getenv("XDG_CONFIG_HOME"); !filepath.IsAbs(path[0]) {
			path[0] = filepath.Join(top, ".config")
		}
	}
	if rel, err := filepath.Rel(top, path[0]); err != nil || !filepath.IsLocal(rel) {
		top = path[0]
	}
	return Place{File: filepath.Join(path...), Below: top, Mode: 0o600}, nil
}

// OfProject is the client's file in the project dir, which is a whole path; ok is false
// if it has none.
func (c *Client) OfProject(dir string) (p Place, ok bool) {
	return Place{File: filepath.Join(dir, filepath.FromSlash(c.project)), Below: dir, Mode: 0o644}, c.project != ""
}
