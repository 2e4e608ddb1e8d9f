package mcpbridge

import (
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"swank-mcp/mcpbridge/fake"
	"swank-mcp/mcpbridge/tools"
)

// TestBeside is what there is beside the tools, for the SDK's client in every era.
func TestBeside(t *testing.T) {
	for _, version := range eras {
		t.Run(version, func(t *testing.T) {
			s := connect(t, version, &fake.Image{}, nil)
			ctx := t.Context()
			resources, err := s.ListResources(ctx, nil)
			if err != nil || len(resources.Resources) != 1 || resources.Resources[0].URI != "lisp://session" {
				t.Errorf("resources: %+v, %v", resources, err)
			}
			templates, err := s.ListResourceTemplates(ctx, nil)
			if err != nil || len(templates.ResourceTemplates) != 2 {
				t.Errorf("templates: %+v, %v", templates, err)
			}
			long, err := s.CallTool(ctx, &mcp.CallToolParams{Name: "evaluate-lisp", Arguments: map[string]any{"code": "repeat 10000"}})
			if err != nil || len(long.Content) != 1 {
				t.Fatalf("a long reply: %+v, %v", long, err)
			}
			for uri, want := range map[string]string{
				"lisp://session":                    "Image: not started",
				"lisp://output/out-1":               "=> 0123456789\n0123456789",
				"lisp://symbol/cl/car":              "CAR, external symbol of COMMON-LISP\n\n[Function]\n(CAR LIST)",
				"lisp://symbol/cl/*print-base*":     "CAR, external",
				"lisp://symbol/cl/%2Aprint-base%2a": "CAR, external",
			} {
				r, err := s.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri})
				if err != nil || len(r.Contents) != 1 || !strings.HasPrefix(r.Contents[0].Text, want) || r.Contents[0].URI != uri || r.Contents[0].MIMEType != "text/plain" {
					t.Errorf("%s: %+v, %v", uri, r, err)
				}
			}
			for uri, want := range map[string]string{
				"lisp://output/out-9":  "There is no text under the handle",
				"lisp://symbol/cl/nix": "There is no symbol.",
				"lisp://symbol/cl":     "not found",
				"lisp://nothing":       "not found",
			} {
				if r, err := s.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri}); err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s: %+v, %v; want %q", uri, r, err, want)
				}
			}

			list, err := s.ListPrompts(ctx, nil)
			if err != nil || len(list.Prompts) != len(prompts) {
				t.Errorf("prompts: %+v, %v", list, err)
			}
			get := func(name string, args map[string]string) (string, error) {
				r, err := s.GetPrompt(ctx, &mcp.GetPromptParams{Name: name, Arguments: args})
				if err != nil {
					return "", err
				}
				return r.Messages[0].Content.(*mcp.TextContent).Text, nil
			}
			for _, c := range []struct {
				name string
				args map[string]string
				want []string
			}{
				{"debug-this", map[string]string{"form": "(f 1)", "problem": "it should be 2"}, []string{"```lisp\n(f 1)\n```", "it should be 2", "- `evaluate-lisp`: run it with on-error debug"}},
				{"explain-symbol", map[string]string{"name": "car"}, []string{"(CAR LIST)", "f_car_c.htm", "- `find-definition`: its source text."}},
				{"explore-system", map[string]string{"system": "x"}, []string{"1 system can be loaded", "- `load-system`: load it, if"}},
			} {
				got, err := get(c.name, c.args)
				for _, w := range c.want {
					if err != nil || !strings.Contains(got, w) {
						t.Errorf("%s: %v, no %q in\n%s", c.name, err, w, got)
					}
				}
			}
			for _, c := range []struct {
				name string
				args map[string]string
				want string
			}{
				{"debug-this", nil, `debug-this needs the argument "form"`},
				{"explain-symbol", map[string]string{"name": "nix"}, "There is no symbol."},
				{"explain-symbol", map[string]string{"name": "car", "nme": "x"}, `no argument "nme". Valid: name, package.`},
				{"no-such-prompt", nil, "no-such-prompt"},
			} {
				if got, err := get(c.name, c.args); err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%s %v: %q, %v; want %q", c.name, c.args, got, err, c.want)
				}
			}

			complete := func(ref *mcp.CompleteReference, argument, value string) string {
				r, err := s.Complete(ctx, &mcp.CompleteParams{Ref: ref, Argument: mcp.CompleteParamsArgument{Name: argument, Value: value}})
				if err != nil {
					return err.Error()
				}
				return strings.Join(r.Completion.Values, " ")
			}
			symbol := &mcp.CompleteReference{Type: "ref/resource", URI: symbolTemplate}
			explain := &mcp.CompleteReference{Type: "ref/prompt", Name: "explain-symbol"}
			for _, c := range []struct {
				ref                   *mcp.CompleteReference
				argument, value, want string
			}{
				{symbol, "package", "mi", "mine"},
				{symbol, "package", "CL", "CL-USER"},
				{symbol, "name", "ca", "ca-all ca-any"},
				{explain, "name", "ca", "ca-all ca-any"},
				{&mcp.CompleteReference{Type: "ref/resource", URI: outputTemplate}, "handle", "out", "out-1"},
				{&mcp.CompleteReference{Type: "ref/prompt", Name: "explore-system"}, "system", "al", "alexandria"},
				{&mcp.CompleteReference{Type: "ref/prompt", Name: "debug-this"}, "form", "(", ""},
			} {
				if got := complete(c.ref, c.argument, c.value); got != c.want {
					t.Errorf("completing %s %q: %q, want %q", c.argument, c.value, got, c.want)
				}
			}
		})
	}
}

func TestEscapeURI(t *testing.T) {
	for in, want := range map[string]string{
		"lisp://session":              "lisp://session",
		"lisp://symbol/cl/car":        "lisp://symbol/cl/car",
		"lisp://symbol/cl/*":          "lisp://symbol/cl/%2A",
		"lisp://symbol/cl//":          "lisp://symbol/cl/%2F",
		"lisp://symbol/cl//=":         "lisp://symbol/cl/%2F%3D",
		"lisp://symbol/a%2Fb/%7Cx%7C": "lisp://symbol/a%2Fb/%7Cx%7C",
		"lisp://symbol/cl/1%":         "lisp://symbol/cl/1%25",
		"lisp://symbol/cl/λ":          "lisp://symbol/cl/%CE%BB",
	} {
		if got := escapeURI(in); got != want {
			t.Errorf("escapeURI(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestPromptsNameTools: whatever a prompt advises is a tool, and shown.
func TestPromptsNameTools(t *testing.T) {
	for _, s := range slices.Concat(debugSteps, explainSteps, exploreSteps) {
		if tools.Find(s.tool) == nil {
			t.Errorf("a prompt names %s, which is no tool", s.tool)
		}
	}
	b := New(Options{Open: opens(&fake.Image{}), Tools: Selection{Tools: []string{"evaluate-lisp"}}})
	if got := b.advice(explainSteps); got != "- `evaluate-lisp`: try it.\n" {
		t.Errorf("advice with one tool: %q", got)
	}
}
