package tools

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"swank-mcp/mcpbridge/args"
	"swank-mcp/mcpbridge/render"
	"swank-mcp/swank/lisp"
)

// loadTimeout is how long loading a system may take when the call names no
// limit, if --max-timeout allows it.
const loadTimeout = 300 * time.Second

var loadSystemTool = Tool{
	Name:  "load-system",
	Title: "Load system",
	Set:   Core,
	Shown: true,
	Doc: "Load a system into the image with Quicklisp, where the image has it, or else with ASDF. " +
		"Compiles what has changed.",
	Params: []args.Param{
		{Name: "system", Kind: args.Text, Required: true, Aliases: []args.Alias{{Name: "system-name"}, {Name: "name"}},
			Doc: "Name of the system, as in alexandria, or path of its .asd file."},
		{Name: "force", Kind: args.Flag,
			Doc: "Compile and load it again even if nothing has changed."},
		freshParam,
		debugParam(debugDoc), onErrorParam,
		verboseParam,
		timeoutParam(loadTimeout, "Seconds, more than 0, after which loading is stopped."),
	},
	Example: `{"system": "alexandria"}`,
	Effect:  Effect{Destructive: true, OpenWorld: true, Idempotent: true, InTurn: always},
	run:     loadSystem,
}

func loadSystem(ctx context.Context, r *Request) (Reply, error) {
	name := r.systemName()
	force, in := r.Flag("force"), r.sessionRequest()
	if name == "" {
		return Reply{}, r.Fail("system is empty; it must be the name of a system.")
	}
	system := name
	if file, ok := r.definition(name); ok {
		system, name = file, strings.TrimSuffix(filepath.Base(file), ".asd")
	}
	if r.Err != nil {
		return Reply{}, r.Err
	}
	if r.Flag("fresh") {
		return loadFresh(ctx, r, system, name, in)
	}
	res, err := r.Session.LoadSystem(ctx, system, force, in)
	if err != nil {
		return Reply{}, err
	}
	boundWarnings(res, r.Flag("verbose"), r.Spool)
	return loadText(name, in.Timeout, res), nil
}

// systemName returns the name of the system that the call gives. As ASDF does, it takes a
// symbol's in lower case, and a string as it is.
func (r *Request) systemName() string {
	text := strings.TrimSpace(r.Text("system"))
	if symbol := strings.TrimLeft(text, "#:' "); symbol != text {
		return strings.ToLower(symbol)
	}
	if unquoted, ok := strings.CutPrefix(text, `"`); ok && strings.HasSuffix(unquoted, `"`) {
		return strings.TrimSuffix(unquoted, `"`)
	}
	return text
}

// definition returns the absolute path if name is the path of a system definition.
func (r *Request) definition(name string) (string, bool) {
	if !strings.HasSuffix(name, ".asd") || strings.ContainsAny(name, "\"\n") {
		return "", false
	}
	return r.Path("system"), true
}

// loadText is the text of load-system: a transcript, or the failure and what
// came before it.
func loadText(name string, timeout time.Duration, res *lisp.Result) Reply {
	res.Stderr = withoutCompilerNoise(res.Stderr)
	if f := res.Failure; f != nil {
		f.Frames = slices.DeleteFunc(f.Frames, ofASDF)
		text, _ := render.Result(res, render.View{Timeout: timeout})
		return Reply{Text: text + originRemark(res), Failed: true, Failure: f}
	}
	name = cmp.Or(res.System, name)
	lines := []string{"Loading system: " + render.Safe(name)}
	if out := render.Trimmed(res.Stdout); out != "" {
		lines = append(lines, out)
	}
	lines = append(lines, "Loaded: "+render.Safe(name))
	if res.Origin != "" {
		lines = append(lines, originLine(res))
	}
	if res.Built != "" {
		lines = append(lines, render.Safe(res.Built))
	}
	var p render.Parts
	p.WriteString(strings.Join(lines, "\n"))
	res.Stdout = lisp.Text{}
	p.Context(res)
	return Reply{Text: p.String()}
}

// originLine says which file defines the system.
func originLine(res *lisp.Result) string { return "Defined in: " + render.Safe(res.Origin) }

// originRemark is what a failure says of that, below the rest.
func originRemark(res *lisp.Result) string {
	if res.Origin == "" {
		return ""
	}
	return "\n\n; " + originLine(res)
}

// withoutCompilerNoise drops the comment lines that the compiler writes about
// what [warnings] says in one line each.
func withoutCompilerNoise(t lisp.Text) lisp.Text {
	strip := func(s string) string {
		var kept []string
		for line := range strings.Lines(s) {
			if !strings.HasPrefix(line, ";") && strings.TrimSpace(line) != "" {
				kept = append(kept, line)
			}
		}
		return strings.Join(kept, "")
	}
	t.Head, t.Tail = strip(t.Head), strip(t.Tail)
	return t
}
