package mcpbridge

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"swank-mcp/internal/tier"
	"swank-mcp/mcpbridge/args"
	"swank-mcp/mcpbridge/fake"
	"swank-mcp/mcpbridge/tools"
)

// TestDefaultToolset holds what every conversation pays for the default tools:
// their names, descriptions and schemas. With -v it prints each one's share.
func TestDefaultToolset(t *testing.T) {
	const maxTools, maxTokens = 28, 4600
	var o Options
	o.setDefaults()
	total := 0
	var report strings.Builder
	picked := Selection{}.pick()
	for _, tl := range picked {
		seen, err := json.Marshal(map[string]any{
			"name": tl.Name, "description": tl.Doc, "inputSchema": args.Schema(tl.Spec(o.limits()).Params),
		})
		if err != nil {
			t.Fatal(err)
		}
		total += len(seen)
		fmt.Fprintf(&report, "%6d %s\n", len(seen)/4, tl.Name)
	}
	t.Logf("%d tools, %d tokens:\n%s", len(picked), total/4, &report)
	if len(picked) > maxTools || total/4 > maxTokens {
		t.Errorf("more than %d tools or %d tokens (bytes/4):\n%s", maxTools, maxTokens, &report)
	}
}

func names(of []*tools.Tool) (out []string) {
	for _, tl := range of {
		out = append(out, tl.Name)
	}
	return out
}

// shown is what tools/list answers, in the order of their names.
func shown(t *testing.T, b *Bridge) []string {
	t.Helper()
	p := peerOf(t, b).handshake()
	p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	var list struct{ Tools []struct{ Name string } }
	if err := json.Unmarshal(p.receive().RawResult, &list); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, tl := range list.Tools {
		out = append(out, tl.Name)
	}
	return out
}

func TestSelection(t *testing.T) {
	readers := []string{"list-definitions", "list-packages", "session-status", "read-output"}
	for _, c := range []struct {
		name string
		s    Selection
		want []string // at least these
		not  []string
	}{
		{"default", Selection{}, []string{"evaluate-lisp", "read-output"}, nil},
		{"all", Selection{Toolsets: []string{"all"}}, names(tools.All()), nil},
		{"tools alone", Selection{Tools: []string{"evaluate_lisp"}}, []string{"evaluate-lisp"}, []string{"read-output"}},
		{"beside", Selection{Toolsets: []string{"debug"}, Tools: []string{"Read-Output"}}, []string{"read-output"}, []string{"evaluate-lisp"}},
		{"without", Selection{Exclude: []string{"evaluate-lisp"}}, readers, []string{"evaluate-lisp"}},
		{"read-only", Selection{ReadOnly: true}, readers, []string{"evaluate-lisp", "load-system", "reset-session"}},
		{"read-only of all", Selection{Toolsets: []string{"all"}, ReadOnly: true}, readers, []string{"evaluate-lisp"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := c.s.Check(); err != nil {
				t.Fatal(err)
			}
			got := shown(t, New(Options{Open: opens(&fake.Image{}), Tools: c.s}))
			for _, n := range c.want {
				if !slices.Contains(got, n) {
					t.Errorf("%s is not in %v", n, got)
				}
			}
			for _, n := range c.not {
				if slices.Contains(got, n) {
					t.Errorf("%s is in %v", n, got)
				}
			}
			want := names(c.s.pick())
			slices.Sort(want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("picked and shown (-want +got):\n%s", diff)
			}
		})
	}
}

// Whatever is selected, the rules hold, and the error of a call of any other
// tool is either gone with the flags that it names, or names the flag to drop.
func TestSelectionProperty(t *testing.T) {
	every := names(tools.All())
	sets := []string{"default", "all", "core", "debug", "inspect", "build", "profile"}
	flags := regexp.MustCompile("`([^`]+)`")
	tier.SeedRapid(t)
	rapid.Check(t, func(t *rapid.T) {
		some := func(of []string, most int, what string) []string {
			return rapid.SliceOfNDistinct(rapid.SampledFrom(of), 0, most, rapid.ID[string]).Draw(t, what)
		}
		s := Selection{
			Toolsets: some(sets, 2, "toolsets"), Tools: some(every, 2, "tools"),
			Exclude: some(every, 2, "exclude"), ReadOnly: rapid.Bool().Draw(t, "read-only"),
		}
		if s.Check() != nil {
			return
		}
		picked := s.pick()
		if len(picked) == 0 {
			t.Fatal("nothing is left, and Check is content")
		}
		if wrong := wronglyNamed(s); len(wrong) > 0 {
			t.Fatalf("the instructions name %v, which are not there:\n%s", wrong, instructionsFor(s))
		}
		for _, l := range tools.All() {
			name, has := l.Name, slices.Contains(picked, l)
			switch {
			case has && s.ReadOnly && !l.ReadOnly:
				t.Fatalf("%s is not read-only", name)
			case has && slices.Contains(s.Exclude, name):
				t.Fatalf("%s is excluded", name)
			case has:
			case slices.Contains(s.Exclude, name) || s.ReadOnly && !l.ReadOnly:
				if a := s.absence(l); !strings.Contains(a, name) || !regexp.MustCompile(`--(read-only|exclude-tools)`).MatchString(a) {
					t.Fatalf("absence of %s: %s", name, a)
				}
			default:
				again := Selection{Exclude: s.Exclude, ReadOnly: s.ReadOnly}
				said := flags.FindStringSubmatch(s.absence(l))
				if said == nil {
					t.Fatalf("absence of %s names no flags: %s", name, s.absence(l))
				}
				words := strings.Fields(said[1])
				for i := 0; i < len(words); i += 2 {
					switch list := strings.Split(words[i+1], ","); words[i] {
					case "--toolsets":
						again.Toolsets = list
					case "--tools":
						again.Tools = list
					}
				}
				want := append(slices.Clone(picked), l)
				got := again.pick()
				if err := again.Check(); err != nil || len(got) != len(want) || !slices.Contains(got, l) {
					t.Fatalf("with %s: %v, %v; want %v", said[1], names(got), err, names(want))
				}
			}
		}
	})
}

// TestAbsentTool: calling a tool that a flag forbids says which flag brings it.
func TestAbsentTool(t *testing.T) {
	for _, c := range []struct {
		s    Selection
		want string
	}{
		{Selection{Tools: []string{"list-packages", "read-output"}}, "`--tools list-packages,read-output,evaluate-lisp` brings it. Valid: list-packages, read-output."},
		{Selection{Toolsets: []string{"all"}, ReadOnly: true}, "started with --read-only. Without that flag it is there. Valid: "},
		{Selection{Exclude: []string{"evaluate_lisp"}}, "is named in --exclude-tools"},
	} {
		p := peerOf(t, New(Options{Open: opens(&fake.Image{}), Tools: c.s})).handshake()
		if a := p.call("evaluate_lisp", `{"code":"1"}`); a.Error == nil || a.Error.Code != -32602 || !strings.Contains(a.Error.Message, c.want) {
			t.Errorf("%+v: %+v, want %s", c.s, a.Error, c.want)
		}
		if a := p.call("list-packages", `{}`); a.Error != nil || a.Result.IsError {
			t.Errorf("%+v: list-packages answered %+v", c.s, a)
		}
	}
}

// TestHiddenTool: what toolsets do not show can be called, as an advice may
// name it; it is not listed, and replies name it.
func TestHiddenTool(t *testing.T) {
	for _, s := range []Selection{{}, {Toolsets: []string{"debug"}}, {Tools: []string{"evaluate-lisp"}, Toolsets: []string{"debug"}}, {Exclude: []string{"evaluate-lisp"}}} {
		b := New(Options{Open: opens(&fake.Image{}), Tools: s})
		if slices.Contains(shown(t, b), "list-threads") {
			t.Errorf("%+v shows list-threads", s)
		}
		p := peerOf(t, b).handshake()
		if a := p.call("list_threads", `{}`); a.Error != nil || a.Result.IsError {
			t.Errorf("%+v: list-threads answered %+v", s, a)
		}
		if !b.takes("list-threads") {
			t.Errorf("%+v: replies do not name list-threads", s)
		}
	}
	for _, s := range []Selection{{ReadOnly: true}, {Exclude: []string{"load-file"}}, {Tools: []string{"evaluate-lisp"}}} {
		p := peerOf(t, New(Options{Open: opens(&fake.Image{}), Tools: s})).handshake()
		if a := p.call("load-file", `{"path":"x.lisp"}`); a.Error == nil {
			t.Errorf("%+v: load-file answered %+v", s, a)
		}
	}
}
