package mcpbridge

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"swank-mcp/mcpbridge/rawtext"
	"swank-mcp/mcpbridge/render"
	"swank-mcp/mcpbridge/stdio"
	"swank-mcp/mcpbridge/tools"
	"swank-mcp/swank/lisp"
)

// prompt is a first message to the model, which people choose from a menu of their host.
type prompt struct {
	name, title, doc string
	arguments        []*mcp.PromptArgument
	text             func(*workspace, context.Context, map[string]string) (string, error)
}

var prompts = []prompt{
	{
		name: "debug-this", title: "Debug this", doc: "Find out why a Lisp form fails or answers wrongly, and mend it.",
		arguments: []*mcp.PromptArgument{
			{Name: "form", Title: "Form", Description: "The Lisp form that fails.", Required: true},
			{Name: "problem", Title: "Problem", Description: "What is wrong with it, or what it should answer."},
		},
		text: (*workspace).debugThis,
	},
	{
		name: "explain-symbol", title: "Explain a symbol", doc: "Explain what a Lisp symbol is for, from what the image knows of it.",
		arguments: []*mcp.PromptArgument{
			{Name: "name", Title: "Name", Description: "The symbol, such as alexandria:flatten.", Required: true},
			{Name: "package", Title: "Package", Description: "Where to look for a name without a prefix."},
		},
		text: (*workspace).explainSymbol,
	},
	{
		name: "explore-system", title: "Explore a system", doc: "Get to know an ASDF system: what it is for, how it is built, how to use it.",
		arguments: []*mcp.PromptArgument{
			{Name: "system", Title: "System", Description: "Its name, such as alexandria.", Required: true},
		},
		text: (*workspace).exploreSystem,
	},
}

func (b *Bridge) addPrompts() {
	for _, p := range prompts {
		b.server.AddPrompt(&mcp.Prompt{Name: p.name, Title: p.title, Description: p.doc, Arguments: p.arguments},
			func(ctx context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
				if err := p.check(r.Params.Arguments); err != nil {
					return nil, err
				}
				w := b.workspace(ctx, r.Session)
				text, err := p.text(w, ctx, r.Params.Arguments)
				if err != nil {
					return nil, promptError(err)
				}
				return &mcp.GetPromptResult{Description: p.doc,
					Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: w.cut(text)}}}}, nil
			})
	}
}

// check names the argument that is missing or not known.
func (p *prompt) check(given map[string]string) error {
	var names []string
	for _, a := range p.arguments {
		names = append(names, a.Name)
		if a.Required && strings.TrimSpace(given[a.Name]) == "" {
			return invalidParams(p.name + " needs the argument " + rawtext.Quote(a.Name) + ": " + a.Description)
		}
	}
	for name := range given {
		if !slices.Contains(names, name) {
			return invalidParams(p.name + " has no argument " + rawtext.Quote(rawtext.Clip(name, 60)) + ". Valid: " + strings.Join(names, ", ") + ".")
		}
	}
	return nil
}

func invalidParams(message string) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: rawtext.Clip(message, stdio.MaxErrorMessage)}
}

// promptError makes a failed look-up an error of the protocol: a prompt has no other
// place for it.
func promptError(err error) error {
	var failed *lisp.LookupError
	if errors.As(err, &failed) {
		return invalidParams(failed.Message)
	}
	return err
}

type step struct{ tool, what string }

var (
	debugSteps = []step{
		{"validate-syntax", "check the form first if it may be unbalanced."},
		{"evaluate-lisp", "run it with on-error debug, so that it waits at the error, and with debug 3, so that every frame and local is there."},
		{"get-backtrace", "see where it waits."},
		{"inspect-frame", "look at the locals of the frame where it went wrong, and at its source."},
		{"evaluate-in-frame", "try expressions where the locals are visible."},
		{"find-definition", "read the functions in the backtrace."},
		{"trace-function", "see the calls, when the answer is wrong without an error."},
		{"restart-frame", "run the frame again after redefining the broken function with evaluate-lisp: the original call returns its value."},
	}
	explainSteps = []step{
		{"find-definition", "its source text."},
		{"cross-reference", "who uses it, for examples from real code."},
		{"evaluate-lisp", "try it."},
	}
	exploreSteps = []step{
		{"load-system", "load it, if that is wanted, so that the image can be asked about it."},
		{"list-packages", "its packages."},
		{"apropos-search", "with its package, the names in it."},
		{"describe-symbol", "each entry point."},
		{"find-definition", "the source behind one."},
		{"cross-reference", "what builds on what."},
	}
)

// advice lists those steps whose tool is shown.
func (b *Bridge) advice(steps []step) string {
	var out strings.Builder
	for _, s := range steps {
		if b.offers(s.tool) {
			out.WriteString("- `" + s.tool + "`: " + s.what + "\n")
		}
	}
	return out.String()
}

func (w *workspace) debugThis(_ context.Context, args map[string]string) (string, error) {
	text := "Debug this Common Lisp form in the live image:\n\n```lisp\n" + strings.TrimSpace(args["form"]) + "\n```\n"
	if p := strings.TrimSpace(args["problem"]); p != "" {
		text += "\nWhat is wrong: " + p + "\n"
	}
	return text + "\nFind the cause before you change anything:\n" + w.advice(debugSteps) +
		"\nThen say what the cause is, mend it in the image, show that the form works, and name the source file to change: the image is not the file.", nil
}

func (w *workspace) explainSymbol(ctx context.Context, args map[string]string) (string, error) {
	found, err := w.session.DescribeSymbol(ctx, args["name"], args["package"])
	if err != nil {
		return "", err
	}
	return "Explain what this is for and how to use it, with a short example that you have run in the image.\n\n" +
		"What the image knows of it:\n\n" + tools.SymbolText(found) + "\n\nMore:\n" + w.advice(explainSteps), nil
}

func (w *workspace) exploreSystem(ctx context.Context, args map[string]string) (string, error) {
	found, err := w.session.DescribeSystem(ctx, args["system"])
	if err != nil {
		return "", err
	}
	return "Get to know this system: what it is for, its main packages and entry points, how its files build on each other, and how to use it.\n\n" +
		"What ASDF knows of it:\n\n" + render.Found(found, "Nothing.") + "\n\nMore:\n" + w.advice(exploreSteps), nil
}
