package docs

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/sourcegraph/jsonrpc2"

	"swank-mcp/internal/await"
)

// requestReply holds the fields of replies to methods other than tools/call.
type requestReply struct {
	Contents   []struct{ Text string }                     // resources/read
	Messages   []struct{ Content struct{ Text string } }   // prompts/get
	Completion struct{ Values []string }                   // completion/complete
	Resources  []struct{ URI, Description string }         // resources/list
	Templates  []struct{ URITemplate, Description string } `json:"resourceTemplates"`
	Prompts    []struct {
		Name, Description string
		Arguments         []struct {
			Name     string
			Required bool
		}
	}
}

// text is the reply as pages show it: the text that is in it, or a line for
// each thing that it lists.
func (r *requestReply) text() string {
	var lines []string
	for _, c := range r.Contents {
		lines = append(lines, c.Text)
	}
	for _, m := range r.Messages {
		lines = append(lines, m.Content.Text)
	}
	lines = append(lines, r.Completion.Values...)
	for _, x := range r.Resources {
		lines = append(lines, x.URI+": "+x.Description)
	}
	for _, x := range r.Templates {
		lines = append(lines, x.URITemplate+": "+x.Description)
	}
	for _, p := range r.Prompts {
		words := []string{p.Name}
		for _, a := range p.Arguments {
			if a.Required {
				words = append(words, a.Name)
			} else {
				words = append(words, "["+a.Name+"]")
			}
		}
		lines = append(lines, strings.Join(words, " ")+": "+p.Description)
	}
	return strings.Join(lines, "\n")
}

// request sends another request of the protocol than a call of a tool.
func (r *reader) request(b item, method string, params map[string]any, shown item) {
	r.t.Helper()
	ctx := await.Context(r.t)
	var raw json.RawMessage
	err := r.running().Call(ctx, method, params, &raw)
	if refused := (*jsonrpc2.Error)(nil); errors.As(err, &refused) {
		r.compare(shown, refused.Message)
		return
	}
	var reply requestReply
	if err == nil {
		err = json.Unmarshal(raw, &reply)
	}
	if err != nil {
		r.t.Fatalf("%s:%d: %v", r.page.path, b.line, err)
	}
	r.compare(shown, reply.text())
}
