package mcpbridge

import (
	"context"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"swank-mcp/mcpbridge/fake"
	"swank-mcp/mcpbridge/tools"
	"swank-mcp/swank/lisp"
)

// endless is the session of an image whose program makes it answer with long texts.
type endless struct{ *fake.Session }

// much is longer than a reply.
var much = strings.Repeat("é ", 30_000)

func (endless) Status(context.Context) (*lisp.Status, error) {
	return &lisp.Status{State: "running", Package: much, Sandbox: much, Notes: []string{much, much}}, nil
}

func (endless) DescribeSymbol(context.Context, string, string) (*lisp.Finding, error) {
	return &lisp.Finding{Title: much, Sections: []lisp.Section{{Name: much, Lines: []string{much, much}}}}, nil
}

func (endless) CompleteSymbol(context.Context, string, string, int) (*lisp.Finding, error) {
	return &lisp.Finding{Names: []string{"a", much, much}}, nil
}

func (endless) Shown() []string { return []string{much, much} }

// Whatever an image answers, what a client gets of it is at most as long as a reply.
func TestNothingIsLongerThanAReply(t *testing.T) {
	t.Parallel()
	for _, version := range eras {
		open := func(name string) tools.Session { return endless{(&fake.Image{}).Session(name)} }
		s := connectWith(t, version, Options{Open: open, Tools: everyTool}, nil)
		for what, get := range map[string]func() (string, error){
			"a reply": func() (string, error) {
				r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "session-status"})
				if err != nil {
					return "", err
				}
				return r.Content[0].(*mcp.TextContent).Text, nil
			},
			"the session": func() (string, error) { return resource(t, s, "lisp://session") },
			"a symbol":    func() (string, error) { return resource(t, s, "lisp://symbol/cl/car") },
			"a prompt": func() (string, error) {
				r, err := s.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "explain-symbol", Arguments: map[string]string{"name": "car"}})
				if err != nil {
					return "", err
				}
				return r.Messages[0].Content.(*mcp.TextContent).Text, nil
			},
			"completions": func() (string, error) {
				r, err := s.Complete(t.Context(), &mcp.CompleteParams{
					Ref:      &mcp.CompleteReference{Type: "ref/resource", URI: symbolTemplate},
					Argument: mcp.CompleteParamsArgument{Name: "name", Value: "a"},
				})
				if err != nil {
					return "", err
				}
				return strings.Join(r.Completion.Values, ""), nil
			},
		} {
			got, err := get()
			if n := utf8.RuneCountInString(got); err != nil || n == 0 || n > DefaultMaxOutput {
				t.Errorf("%s in %s: %d characters, want at most %d: %v", what, version, n, DefaultMaxOutput, err)
			}
		}
	}
}

// resource reads the text of a resource.
func resource(t *testing.T, s *mcp.ClientSession, uri string) (string, error) {
	r, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
	if err != nil {
		return "", err
	}
	return r.Contents[0].Text, nil
}
