package register

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var server = Server{Command: "/opt/a b/swank-mcp", Args: []string{"--attach", `say "hi"\`}}

func client(t *testing.T, name string) *Client {
	t.Helper()
	c, ok := Find(name)
	if !ok {
		t.Fatalf("no client %s", name)
	}
	return c
}

// atHome has a directory of a user who has no configuration.
func atHome(t *testing.T) string {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"HOME", "USERPROFILE"} {
		t.Setenv(name, dir)
	}
	for _, name := range []string{"XDG_CONFIG_HOME", "CODEX_HOME"} {
		t.Setenv(name, "")
	}
	t.Setenv("APPDATA", filepath.Join(dir, "AppData"))
	if runtime.GOOS == "windows" {
		if err := os.Mkdir(filepath.Join(dir, "AppData"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func put(t *testing.T, file, text string) Place {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
	return Place{File: file, Below: filepath.Dir(file), Mode: 0o600}
}

func got(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func add(t *testing.T, c *Client, p Place, s Server, want Outcome) {
	t.Helper()
	if is, err := c.Add(p, s); err != nil || is != want {
		t.Fatalf("Add: outcome %d, error %v, want outcome %d", is, err, want)
	}
}

func remove(t *testing.T, c *Client, p Place, want Outcome) {
	t.Helper()
	if is, err := c.Remove(p); err != nil || is != want {
		t.Fatalf("Remove: outcome %d, error %v, want outcome %d", is, err, want)
	}
}

// For each client, of the user and of a project: a file is made that is what is shown,
// a second time nothing is done, another command takes the place of the first, and the
// end leaves nothing.
func TestClients(t *testing.T) {
	dir := atHome(t)
	seen := map[string]bool{}
	for _, c := range Clients() {
		var places []Place
		if !c.Shown() && !c.ByCommand() {
			p, err := c.OfUser()
			if err != nil {
				t.Fatal(err)
			}
			places = append(places, p)
		}
		project := filepath.Join(dir, "project")
		if err := os.MkdirAll(project, 0o755); err != nil {
			t.Fatal(err)
		}
		if p, ok := c.OfProject(project); ok {
			places = append(places, p)
		}
		if len(places) == 0 && !c.Shown() {
			t.Errorf("%s has no file", c.Name)
		}
		for _, p := range places {
			if seen[p.File] {
				t.Errorf("%s is the file of two clients", p.File)
			}
			seen[p.File] = true
			remove(t, &c, p, Unchanged)
			add(t, &c, p, server, Added)
			if diff := cmp.Diff(c.Snippet(server), got(t, p.File)); diff != "" {
				t.Errorf("%s: what is shown is not what is written (-shown +written):\n%s", c.Name, diff)
			}
			add(t, &c, p, server, Unchanged)
			has, err := c.Has(p.File)
			if diff := cmp.Diff(&server, has); err != nil || diff != "" {
				t.Errorf("%s: %v\n%s", c.Name, err, diff)
			}
			other := Server{Command: "swank-mcp"}
			add(t, &c, p, other, Changed)
			if has, _ := c.Has(p.File); has == nil || has.Command != "swank-mcp" || len(has.Args) > 0 {
				t.Errorf("%s has %+v after the change", c.Name, has)
			}
			if info, err := os.Stat(p.File); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != p.Mode {
				t.Errorf("%s: %v, %v", p.File, info.Mode(), err)
			}
			remove(t, &c, p, Removed)
			if _, err := os.Stat(p.File); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s is left: %v", p.File, err)
			}
		}
		if c.Next == "" || c.Title == "" || c.Snippet(server) == "" {
			t.Errorf("%s tells too little", c.Name)
		}
	}
}

// What else a file has stays as it is, to the byte; and so it is again at the end.
func TestFileKept(t *testing.T) {
	for name, k := range map[string]struct{ client, before, after string }{
		"another server": {"cursor",
			"{\n    \"mcpServers\": {\n        \"other\": { \"command\": \"x\", \"n\": 1.50 }\n    },\n    \"z\": [1,2]\n}\n",
			"{\n    \"mcpServers\": {\n        \"other\": { \"command\": \"x\", \"n\": 1.50 },\n        \"lisp\": {\n            \"command\": \"c\",\n            \"args\": []\n        }\n    },\n    \"z\": [1,2]\n}\n"},
		"comments and commas": {"zed",
			"// mine\n{\n  \"theme\": \"x\", // dark\n  /* servers */ \"context_servers\": {\n    // the first\n    \"a\": {}, // yes\n    // none below\n  },\n}\n",
			"// mine\n{\n  \"theme\": \"x\", // dark\n  /* servers */ \"context_servers\": {\n    // the first\n    \"a\": {}, // yes\n    // none below\n    \"lisp\": {\n      \"command\": \"c\",\n      \"args\": [],\n      \"env\": {}\n    },\n  },\n}\n"},
		"comment behind the last": {"zed",
			"{\n  \"context_servers\": {\n    \"a\": {} // yes\n  } // end\n}",
			"{\n  \"context_servers\": {\n    \"a\": {}, // yes\n    \"lisp\": {\n      \"command\": \"c\",\n      \"args\": [],\n      \"env\": {}\n    }\n  } // end\n}"},
		"no servers yet": {"gemini",
			"{\r\n\t\"ui\": {\"a\": 1}\r\n}\r\n",
			"{\r\n\t\"ui\": {\"a\": 1},\r\n\t\"mcpServers\": {\r\n\t\t\"lisp\": {\r\n\t\t\t\"command\": \"c\",\r\n\t\t\t\"args\": [],\r\n\t\t\t\"timeout\": 600000\r\n\t\t}\r\n\t}\r\n}\r\n"},
		"one line": {"eca",
			`{"mcpServers":{"a":{"command":"x"}}}`,
			"{\"mcpServers\":{\"a\":{\"command\":\"x\"}, \"lisp\": {\n    \"command\": \"c\",\n    \"args\": []\n  }}}"},
		"mark of Windows": {"cursor",
			"\ufeff{\n  \"a\": 1\n}",
			"\ufeff{\n  \"a\": 1,\n  \"mcpServers\": {\n    \"lisp\": {\n      \"command\": \"c\",\n      \"args\": []\n    }\n  }\n}"},
		"TOML": {"codex",
			"model = \"x\" # mine\n\n[mcp_servers.other]\ncommand = \"y\"\n",
			"model = \"x\" # mine\n\n[mcp_servers.other]\ncommand = \"y\"\n\n[mcp_servers.lisp]\ncommand = \"c\"\ntool_timeout_sec = 600\n"},
		"TOML of Windows": {"codex",
			"a = 1\r\n",
			"a = 1\r\n\r\n[mcp_servers.lisp]\r\ncommand = \"c\"\r\ntool_timeout_sec = 600\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			p := put(t, filepath.Join(t.TempDir(), "f"), k.before)
			c := client(t, k.client)
			add(t, c, p, Server{Command: "c"}, Added)
			if diff := cmp.Diff(k.after, got(t, p.File)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			add(t, c, p, Server{Command: "c"}, Unchanged)
			remove(t, c, p, Removed)
			if diff := cmp.Diff(k.before, got(t, p.File)); diff != "" {
				t.Errorf("not as it was: -before +after\n%s", diff)
			}
			if info, err := os.Stat(p.File); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
				t.Errorf("%v, %v", info.Mode(), err)
			}
		})
	}
}

// An entry keeps what a person has put beside the command and the arguments.
func TestEntryKept(t *testing.T) {
	for name, k := range map[string]struct {
		client, before string
		server         Server
		after          string
	}{
		"JSON": {"gemini", `{"mcpServers": {"lisp": {"args": ["a"], "trust": true, "command": "old", "timeout": 5}, "b": {}}}`,
			Server{"new", []string{"x"}}, `{"mcpServers": {"lisp": {"args": ["x"], "trust": true, "command": "new", "timeout": 5}, "b": {}}}`},
		"TOML": {"codex", "[mcp_servers.lisp]\n# why\nenv_vars = [\"A\"]\ncommand = \"old\"\n\n[mcp_servers.lisp.env]\nargs = \"B\"\n\n# next\n[other]\n",
			Server{"new", nil}, "[mcp_servers.lisp]\n# why\nenv_vars = [\"A\"]\ncommand = \"new\"\n\n[mcp_servers.lisp.env]\nargs = \"B\"\n\n# next\n[other]\n"},
		"TOML, arguments": {"codex", "[mcp_servers.lisp]\ncommand = \"old\"\n", Server{"new", []string{"x", "y"}},
			"[mcp_servers.lisp]\nargs = [\"x\", \"y\"]\ncommand = \"new\"\n"},
	} {
		t.Run(name, func(t *testing.T) {
			p := put(t, filepath.Join(t.TempDir(), "f"), k.before)
			add(t, client(t, k.client), p, k.server, Changed)
			if diff := cmp.Diff(k.after, got(t, p.File)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
	p := put(t, filepath.Join(t.TempDir(), "f"), "a = 1\n[mcp_servers.lisp]\ncommand = \"c\"\n[mcp_servers.lisp.env]\nA = \"B\"\n\n# next\n[other]\nb = 2\n")
	remove(t, client(t, "codex"), p, Removed)
	if diff := cmp.Diff("a = 1\n\n# next\n[other]\nb = 2\n", got(t, p.File)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// What cannot be edited safely is left as it is, and the error says what is wrong.
func TestRefused(t *testing.T) {
	for name, k := range map[string]struct{ client, text, want string }{
		"broken JSON":          {"cursor", "{\n  \"mcpServers\": {\n}\n", "line 4, column 1"},
		"broken TOML":          {"codex", "a = \n", "toml"},
		"a list":               {"cursor", "[1]", "cannot be read"},
		"servers are a list":   {"cursor", `{"mcpServers": []}`, `"mcpServers" is no object`},
		"the server is a text": {"cursor", `{"mcpServers": {"lisp": "x"}}`, `"mcpServers.lisp" is no object`},
		"twice":                {"cursor", `{"mcpServers": {}, "mcpServers": {}}`, "twice"},
		"an address":           {"gemini", `{"mcpServers": {"lisp": {"httpUrl": "http://127.0.0.1:1"}}}`, "--uninstall removes it"},
		"an inline table":      {"codex", "mcp_servers = { lisp = { command = \"x\" } }\n", "no line [mcp_servers.lisp]"},
		"another inline table": {"codex", "mcp_servers = { other = { command = \"x\" } }\n", "cannot edit"},
		"arguments in lines":   {"codex", "[mcp_servers.lisp]\ncommand = \"x\"\nargs = [\n  \"y\",\n]\n", "cannot edit"},
		"a text of the same":   {"codex", "[mcp_servers]\nlisp.command = \"x\"\na.b = \"\"\"\n[mcp_servers.lisp]\ncommand = \"y\"\n\"\"\"\n", "cannot edit"},
	} {
		t.Run(name, func(t *testing.T) {
			p := put(t, filepath.Join(t.TempDir(), "f"), k.text)
			_, err := client(t, k.client).Add(p, server)
			var f *FileError
			if !errors.As(err, &f) || !strings.Contains(err.Error(), p.File+" is left as it is: ") || !strings.Contains(err.Error(), k.want) {
				t.Errorf("error %v, want one with %q", err, k.want)
			}
			if text := got(t, p.File); text != k.text {
				t.Errorf("the file was changed:\n%s", text)
			}
			if left, err := filepath.Glob(filepath.Join(p.Below, ".*")); err != nil || len(left) > 0 {
				t.Errorf("left: %v, %v", left, err)
			}
		})
	}
}

// A link to a file of the same user stays a link; one that leads out is refused.
func TestLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need rights there")
	}
	dir := atHome(t)
	c := client(t, "cursor")
	p, err := c.OfUser()
	if err != nil {
		t.Fatal(err)
	}
	inside := put(t, filepath.Join(dir, "dotfiles", "cursor.json"), "{}\n")
	if err := os.MkdirAll(filepath.Dir(p.File), 0o755); err != nil {
		t.Fatal(err)
	}
	link := func(to string) {
		t.Helper()
		if err := os.Remove(p.File); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		if err := os.Symlink(to, p.File); err != nil {
			t.Fatal(err)
		}
	}
	link("../dotfiles/cursor.json")
	add(t, c, p, server, Added)
	if got(t, inside.File) != c.Snippet(server) {
		t.Error("the file behind the link is not written")
	}
	remove(t, c, p, Removed)
	if to, err := os.Readlink(p.File); err != nil || to != "../dotfiles/cursor.json" {
		t.Errorf("the link has become %q, %v", to, err)
	}
	outside := put(t, filepath.Join(t.TempDir(), "of-others.json"), "{}\n")
	refuse := func(want string) {
		t.Helper()
		if _, err := c.Add(p, server); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	link(outside.File)
	refuse("which is not in " + dir)
	link("nowhere.json")
	refuse("following links")
	if err := os.RemoveAll(filepath.Dir(p.File)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside.Below, filepath.Dir(p.File)); err != nil {
		t.Fatal(err)
	}
	refuse("which is not in " + dir)
	if text := got(t, outside.File); text != "{}\n" {
		t.Errorf("the file outside has become %q", text)
	}
	if left, err := filepath.Glob(filepath.Join(outside.Below, "*")); err != nil || len(left) != 1 {
		t.Errorf("outside are %v, %v", left, err)
	}
}

// FuzzFile holds that no text of a file loses anything.
func FuzzFile(f *testing.F) {
	for _, text := range []string{"", "{}", `{"mcpServers": {"a": {}}}`, "{/*a*/}", "{\"a\": 1,\n}", "[mcp_servers.lisp]\na = 1\n", "a = 1", `{"mcpServers": {"lisp": {"command": "x"},},}`, "{\"mcpServers\":\r\n{ // x\r\n}}"} {
		f.Add(text)
	}
	var clients []*Client
	for _, name := range []string{"cursor", "codex"} {
		c, _ := Find(name)
		clients = append(clients, c)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, c := range clients {
			was, err := c.parse([]byte(text))
			if err != nil || c.server(was) != nil {
				continue
			}
			edit, undo := addJSON, removeJSON
			if c.format == asTOML {
				edit, undo = addTOML, removeTOML
			}
			with, err := edit([]byte(text), c, server)
			if err != nil {
				continue // said, and nothing is written
			}
			if err := c.check(was, with, &server); err != nil {
				t.Errorf("%s: %v\n%q\n%q", c.Name, err, text, with)
				continue
			}
			without, err := undo(with, c)
			if err == nil {
				now, _ := c.parse(with)
				err = c.check(now, without, nil)
			}
			if err != nil {
				t.Errorf("%s: %v\n%q\n%q", c.Name, err, with, without)
			}
		}
	})
}

// What another program has written since the file was read is not lost.
func TestWrittenMeanwhile(t *testing.T) {
	p := put(t, filepath.Join(t.TempDir(), "f"), "{\"new\": 1}\n")
	err := replace(p.File, []byte("{}\n"), []byte("{\"mine\": 1}\n"), p.Mode)
	if err == nil || !strings.Contains(err.Error(), "run this again") {
		t.Errorf("error %v", err)
	}
	if text := got(t, p.File); text != "{\"new\": 1}\n" {
		t.Errorf("the file is %q", text)
	}
	if left, err := os.ReadDir(p.Below); err != nil || len(left) != 1 {
		t.Errorf("left: %v, %v", left, err)
	}
}
