package mcpbridge

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"swank-mcp/mcpbridge/args"
	"swank-mcp/mcpbridge/fake"
	"swank-mcp/mcpbridge/tools"
)

var (
	update = flag.Bool("update", false, "rewrite what is made from the tools: goldens, reference, beginnings of scripts")
	tree   = flag.String("tree", "..", "the repository in which that is compared and rewritten")
)

// inTree is the path of a file of the repository.
func inTree(path string) string { return filepath.Join(*tree, filepath.FromSlash(path)) }

// TestToolGoldens holds what clients see of each tool.
func TestToolGoldens(t *testing.T) {
	p := serve(t, Options{}).handshake()
	p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	var list struct{ Tools []json.RawMessage }
	if err := json.Unmarshal(p.receive().RawResult, &list); err != nil {
		t.Fatal(err)
	}
	goldens := inTree("mcpbridge/testdata/tools")
	want := make(map[string]bool)
	for _, raw := range list.Tools {
		var head struct{ Name string }
		if err := json.Unmarshal(raw, &head); err != nil {
			t.Fatal(err)
		}
		want[head.Name+".json"] = true
		var b bytes.Buffer
		if err := json.Indent(&b, raw, "", "  "); err != nil {
			t.Fatal(err)
		}
		b.WriteByte('\n')
		golden(t, filepath.Join(goldens, head.Name+".json"), b.String())
	}
	files, err := os.ReadDir(goldens)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		switch {
		case want[f.Name()]:
		case *update:
			if err := os.Remove(filepath.Join(goldens, f.Name())); err != nil {
				t.Error(err)
			}
		default:
			t.Errorf("golden file %s of no tool", f.Name())
		}
	}
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got), -update rewrites it:\n%s", file, diff)
	}
}

// TestToolRules holds every tool to what the hosts can take.
func TestToolRules(t *testing.T) {
	var o Options
	o.setDefaults()
	seen := make(map[string]bool)
	for _, tl := range tools.All() {
		d := describeTool(tl, o.limits())
		if !regexp.MustCompile(`^[a-z][a-z0-9-]{2,30}$`).MatchString(tl.Name) || seen[tl.Name] {
			t.Errorf("%s: bad or double name", tl.Name)
		}
		seen[tl.Name] = true
		if n := utf8.RuneCountInString(d.Description); n >= 1000 || n < 80 {
			t.Errorf("%s: description of %d characters", tl.Name, n)
		}
		if first, _, _ := strings.Cut(d.Description, ". "); utf8.RuneCountInString(first) > 200 {
			t.Errorf("%s: first sentence too long: %q", tl.Name, first)
		}
		if d.Title == "" || d.Annotations.Title == "" || d.Annotations.DestructiveHint == nil || d.Annotations.OpenWorldHint == nil {
			t.Errorf("%s: title or hints missing", tl.Name)
		}
		if d.OutputSchema != nil {
			t.Errorf("%s: output schema", tl.Name)
		}
		if tl.ReadOnly && tl.Destructive {
			t.Errorf("%s: both read-only and destructive", tl.Name)
		}
		var s struct {
			Type       string
			Additional *bool `json:"additionalProperties"`
			Properties map[string]struct{ Type, Description string }
			Required   []string
		}
		dec := json.NewDecoder(bytes.NewReader(d.InputSchema.(json.RawMessage)))
		if err := dec.Decode(&s); err != nil {
			t.Errorf("%s: schema: %v", tl.Name, err) // a union of types does not decode into string
			continue
		}
		if s.Type != "object" || s.Additional == nil || *s.Additional {
			t.Errorf("%s: schema of type %q, additionalProperties %v", tl.Name, s.Type, s.Additional)
		}
		for _, p := range tl.Spec(o.limits()).Params {
			if _, advertised := s.Properties[p.Name]; advertised == p.Hidden {
				t.Errorf("%s: %s hidden %v, advertised %v", tl.Name, p.Name, p.Hidden, advertised)
			}
			if p.Doc == "" {
				t.Errorf("%s: %s has no description", tl.Name, p.Name)
			}
			for _, a := range p.Aliases {
				if _, advertised := s.Properties[a.Name]; advertised {
					t.Errorf("%s: alias %s is advertised", tl.Name, a.Name)
				}
			}
		}
		if a := args.Parse(tl.Spec(o.limits()), []byte(tl.Example)); a.Err != nil {
			t.Errorf("%s: example: %v", tl.Name, a.Err)
		}
	}
}

func TestCapabilities(t *testing.T) {
	s := Selection{ReadOnly: true}
	p := peerOf(t, New(Options{Version: "1.2.3", Open: opens(&fake.Image{}), Tools: s}))
	p.send(initialize)
	var r struct {
		Capabilities map[string]json.RawMessage
		ServerInfo   struct{ Name, Version string }
		Instructions string
	}
	if err := json.Unmarshal(p.receive().RawResult, &r); err != nil {
		t.Fatal(err)
	}
	want := map[string]json.RawMessage{"tools": []byte("{}"), "resources": []byte("{}"), "prompts": []byte("{}"), "completions": []byte("{}")}
	if diff := cmp.Diff(want, r.Capabilities); diff != "" {
		t.Errorf("capabilities (-want +got):\n%s", diff)
	}
	if r.ServerInfo.Name != "swank-mcp" || r.ServerInfo.Version != "1.2.3" || r.Instructions != instructionsFor(s) {
		t.Errorf("initialize answered %+v", r)
	}
}

// TestPanic: a tool that panics is an error of that call and of nothing else.
func TestPanic(t *testing.T) {
	p := serve(t, Options{}).handshake()
	a := p.call("evaluate-lisp", `{"code":"panic"}`)
	if !a.Result.IsError || !strings.Contains(a.text(), "[ERROR] INTERNAL-ERROR") || !strings.Contains(a.text(), "deliberate") {
		t.Errorf("a panic answered %+v", a)
	}
	p.alive()
	b := New(Options{Open: opens(&fake.Image{})})
	_, err := b.guard(func(context.Context, string, mcp.Request) (mcp.Result, error) { panic("x") })(t.Context(), "tools/list", nil)
	if err == nil || !strings.Contains(err.Error(), "tools/list: x") {
		t.Errorf("a panic outside of tools answered %v", err)
	}
}

func TestToolNames(t *testing.T) {
	p := serve(t, Options{}).handshake()
	for _, name := range []string{"evaluate_lisp", "Evaluate-Lisp"} {
		if a := p.call(name, `{"code":"1"}`); a.text() != "=> 3" {
			t.Errorf("%s answered %+v", name, a)
		}
	}
	var names []string
	for _, tl := range tools.All() {
		names = append(names, tl.Name)
	}
	want := `unknown tool "evaluate-lips". Nearest: "evaluate-lisp". Valid: ` + strings.Join(names, ", ") + "."
	if a := p.call("evaluate-lips", `{"code":"1"}`); a.Error == nil || a.Error.Code != -32602 || a.Error.Message != want {
		t.Errorf("unknown tool answered %+v", a.Error)
	}
}
