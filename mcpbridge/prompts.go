package mcpbridge

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"swank-mcp/swank/lisp"
)

// prompt is a beginning that people choose from a menu of their host.
type prompt struct {
	name, title, doc string
	arguments        []*mcp.PromptArgument
	text             func(*Bridge, context.Context, map[string]string) (string, error)
}

var prompts = []prompt{
	{
		name: "debug-this", title: "Debug this", doc: "Find out why a Lisp form fails or answers wrongly, and mend it.",
		arguments: []*mcp.PromptArgument{
			{Name: "form", Title: "Form", Description: "The Lisp form that fails.", Required: true},
			{Name: "problem", Title: "Problem", Description: "What is wrong with it, or what it should answer."},
		},
		text: (*Bridge).debugThis,
	},
	{
		name: "explain-symbol", title: "Explain a symbol", doc: "Explain what a Lisp symbol is for, from what the image knows of it.",
		arguments: []*mcp.PromptArgument{
			{Name: "name", Title: "Name", Description: "The symbol, such as alexandria:flatten.", Required: true},
			{Name: "package", Title: "Package", Description: "Where to look for a name without a prefix."},
		},
		text: (*Bridge).explainSymbol,
	},
	{
		name: "explore-system", title: "Explore a system", doc: "Get to know an ASDF system: what it is for, how it is built, how to use it.",
		arguments: []*mcp.PromptArgument{
			{Name: "system", Title: "System", Description: "Its name, such as alexandria.", Required: true},
		},
		text: (*Bridge).exploreSystem,
	},
}

func (b *Bridge) addPrompts() {
	for _, p := range prompts {
		b.server.AddPrompt(&mcp.Prompt{Name: p.name, Title: p.title, Description: p.doc, Arguments: p.arguments},
			func(ctx context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
				if err := p.check(r.Params.Arguments); err != nil {
					return nil, err
				}
				text, err := p.text(b, ctx, r.Params.Arguments)
				if err != nil {
					return nil, promptError(err)
				}
				return &mcp.GetPromptResult{Description: p.doc,
					Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: b.spool.cut(text, b.o.MaxOutput)}}}}, nil
			})
	}
}

// check names the argument that is missing or not known.
func (p *prompt) check(given map[string]string) error {
	var names []string
	for _, a := range p.arguments {
		names = append(names, a.Name)
		if a.Required && strings.TrimSpace(given[a.Name]) == "" {
			return invalidParams(p.name + " needs the argument " + quote(a.Name) + ": " + a.Description)
		}
	}
	for name := range given {
		if !slices.Contains(names, name) {
			return invalidParams(p.name + " has no argument " + quote(clip(name, 60)) + ". Valid: " + strings.Join(names, ", ") + ".")
		}
	}
	return nil
}

func invalidParams(message string) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: clip(message, maxErrorMessage)}
}

// promptError is a failed look-up as the protocol's error, since a prompt has
// no other place for it.
func promptError(err error) error {
	var failed *lisp.LookupError
	if errors.As(err, &failed) {
		return invalidParams(failed.Message)
	}
	return err
}

// shows reports whether the client was shown the tool, which a prompt may then
// name.
func (b *Bridge) shows(name string) bool {
	return slices.ContainsFunc(b.tools, func(t *tool) bool { return t.name == name })
}

// steps lists those of lines whose tool, named before the colon, is shown.
func (b *Bridge) steps(lines ...string) string {
	var out []string
	for _, l := range lines {
		if tool, _, ok := strings.Cut(l, ":"); ok && b.shows(tool) {
			out = append(out, "- `"+tool+"`"+l[len(tool):])
		}
	}
	return strings.Join(out, "\n")
}

func (b *Bridge) debugThis(_ context.Context, args map[string]string) (string, error) {
	text := "Debug this Common Lisp form in the live image:\n\n```lisp\n" + strings.TrimSpace(args["form"]) + "\n```\n"
	if p := strings.TrimSpace(args["problem"]); p != "" {
		text += "\nWhat is wrong: " + p + "\n"
	}
	return text + "\nFind the cause before you change anything:\n" + b.steps(
		"validate-syntax: if the form may be unbalanced, check it first.",
		"evaluate-lisp: run it with debug 3, so that the backtrace has every frame; with on-error debug, where that is offered, it waits in the debugger.",
		"inspect-frame: look at the locals of the frame where it went wrong.",
		"evaluate-in-frame: try expressions where the locals are visible.",
		"find-definition: read the functions in the backtrace.",
		"trace-function: see the calls when the answer is wrong without an error.",
		"restart-frame: after redefining the broken function with evaluate-lisp, run the frame again, so that the original call returns.",
	) + "\nThen say what the cause is, mend it in the image, show that the form works, and name the source file to change, as the image is not the file.", nil
}

func (b *Bridge) explainSymbol(ctx context.Context, args map[string]string) (string, error) {
	found, err := b.o.Image.DescribeSymbol(ctx, b.o.Session, args["name"], args["package"])
	if err != nil {
		return "", err
	}
	return "Explain what this is for and how to use it, with a short example that you have run in the image. " +
		"Read its source where that helps.\n\nWhat the image knows of it:\n\n" + describedText(found) + "\n\n" + b.steps(
		"find-definition: its source text.",
		"cross-reference: who uses it, for examples from real code.",
		"evaluate-lisp: try it.",
		"hyperspec-lookup: where the standard describes it, if it is standard.",
	), nil
}

func (b *Bridge) exploreSystem(ctx context.Context, args map[string]string) (string, error) {
	found, err := b.o.Image.DescribeSystem(ctx, b.o.Session, args["system"])
	if err != nil {
		return "", err
	}
	return "Get to know this system: what it is for, its main packages and entry points, how its files build on each other, and how to use it. " +
		"Load it only if that is wanted.\n\nWhat ASDF knows of it:\n\n" + foundText(found, "Nothing.") + "\n\n" + b.steps(
		"load-system: load it, so that the image can be asked about it.",
		"list-packages: its packages.",
		"apropos-search: with its package, the names that it exports.",
		"describe-symbol: each entry point.",
		"find-definition: the source behind one.",
		"run-tests: whether its tests pass.",
	), nil
}
