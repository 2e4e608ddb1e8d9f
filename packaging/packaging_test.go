package main

import (
	"archive/zip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func read(t *testing.T, file string) (o object) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(data, &o)
	}
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// Everything that is written is there, says the same, and names the same version.
func TestWrite(t *testing.T) {
	binaries, dir := t.TempDir(), t.TempDir()
	f := readFacts()
	for _, name := range []string{"NAME", "TITLE", "SUMMARY", "DESCRIPTION", "LICENSE", "AUTHOR", "OWNER", "HOST"} {
		if f["PACKAGE_"+name] == "" {
			t.Fatalf("no PACKAGE_%s in facts.env", name)
		}
	}
	if err := write(f, "1.2.3", binaries, dir); err == nil || !strings.Contains(err.Error(), "of the binary for linux") {
		t.Errorf("without binaries: %v", err)
	}
	for _, name := range []string{"swank-mcp_linux_amd64_v1/swank-mcp", "swank-mcp_darwin_all/swank-mcp", "swank-mcp_windows_amd64_v1/swank-mcp.exe"} {
		if err := put(filepath.Join(binaries, name), []byte(name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := write(f, "1.2.3", binaries, dir); err != nil {
		t.Fatal(err)
	}
	for file, version := range map[string]string{
		"server.json": "1.2.3", "claude-plugin/.claude-plugin/plugin.json": "1.2.3", "gemini-extension/gemini-extension.json": "1.2.3",
	} {
		o := read(t, filepath.Join(dir, file))
		description, _ := o["description"].(string)
		if o["version"] != version || !strings.HasPrefix(description, f.summary()) {
			t.Errorf("%s: version %v, description %q", file, o["version"], description)
		}
	}
	registry := read(t, filepath.Join(dir, "server.json"))
	if n := len(registry["description"].(string)); n > 100 {
		t.Errorf("the registry takes 100 characters of description, not %d", n)
	}
	if want := "io.github." + f["PACKAGE_OWNER"] + "/swank-mcp"; registry["name"] != want {
		t.Errorf("the name in the registry is %v, want %s", registry["name"], want)
	}
	z, err := zip.OpenReader(filepath.Join(dir, "swank-mcp-1.2.3.mcpb"))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	var m struct {
		Server struct {
			Entry  string `json:"entry_point"`
			Config struct {
				Command   string            `json:"command"`
				Env       map[string]string `json:"env"`
				Overrides map[string]struct{ Command string }
			} `json:"mcp_config"`
		}
		UserConfig map[string]any `json:"user_config"`
	}
	in := map[string]bool{}
	for _, file := range z.File {
		in["${__dirname}/"+file.Name] = file.Mode()&0o111 != 0
		if file.Name != "manifest.json" {
			continue
		}
		r, err := file.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, _ := io.ReadAll(r)
		if err := json.Unmarshal(data, &m); err != nil {
			t.Fatal(err)
		}
	}
	commands := []string{m.Server.Config.Command, "${__dirname}/" + m.Server.Entry}
	for _, o := range m.Server.Config.Overrides {
		commands = append(commands, o.Command)
	}
	for _, command := range commands {
		if !in[command] {
			t.Errorf("the bundle has no program %s: %v", command, in)
		}
	}
	flags, err := os.ReadFile("../docs/reference/flags.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range m.Server.Config.Env {
		if !strings.Contains(string(flags), "`"+name+"`") {
			t.Errorf("%s is no variable of swank-mcp", name)
		}
		of := strings.TrimSuffix(strings.TrimPrefix(value, "${user_config."), "}")
		if m.UserConfig[of] == nil {
			t.Errorf("%s is %s, which nobody is asked for", name, value)
		}
	}
}

// What goreleaser does not take from the environment is what the facts say.
func TestGoreleaserKnowsTheFacts(t *testing.T) {
	text, err := os.ReadFile("../.goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	f := readFacts()
	for _, want := range []string{"project_name: " + f["PACKAGE_NAME"], "license: " + f["PACKAGE_LICENSE"]} {
		if !strings.Contains(string(text), want+"\n") {
			t.Errorf(".goreleaser.yaml has no %q", want)
		}
	}
	for _, m := range regexp.MustCompile(`\.Env\.(\w+)`).FindAllStringSubmatch(string(text), -1) {
		if f[m[1]] == "" {
			t.Errorf(".goreleaser.yaml asks for %s, which facts.env does not have", m[1])
		}
	}
}

// The skill, and so the context of the extension, names only tools that there are.
func TestSkill(t *testing.T) {
	tools, err := os.ReadFile("../docs/reference/tools.md")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`([a-z]+(?:-[a-z]+)+|undo)`").FindAllStringSubmatch(skill, -1)
	if len(named) < 10 {
		t.Errorf("the skill names %d tools", len(named))
	}
	for _, m := range named {
		if !strings.Contains(string(tools), "`"+m[1]+"`") && m[1] != "swank-mcp" {
			t.Errorf("there is no tool %s", m[1])
		}
	}
	if !strings.HasPrefix(skill, "---\nname: common-lisp\ndescription: ") {
		t.Error("the skill does not begin with its name and its description")
	}
	dir := t.TempDir()
	if err := writeExtension(readFacts(), "1.0.0", dir); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "LISP.md")); err != nil || !strings.HasPrefix(string(text), "# Common Lisp in a live image\n") {
		t.Errorf("the context begins %.40q, %v", text, err)
	}
}
