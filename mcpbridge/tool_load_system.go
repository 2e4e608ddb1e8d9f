package mcpbridge

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"swank-mcp/swank/lisp"
)

// loadTimeout is how long loading a system may take when the call names no
// limit, if --max-timeout allows it.
const loadTimeout = 300 * time.Second

var loadSystemTool = tool{
	name:  "load-system",
	title: "Load system",
	set:   inCore,
	shown: true,
	doc: "Load a system into the image with Quicklisp, where the image has it, or else with ASDF. " +
		"Compiles what has changed. A failure shows the compiler's or loader's message with file and line; " +
		"an unknown system, those with a similar name.",
	params: func(o limits) []param {
		return []param{
			{name: "system", kind: kindText, required: true, aliases: []alias{{name: "system-name"}, {name: "name"}},
				doc: "Name of the system, as in alexandria, or path of its .asd file."},
			{name: "force", kind: kindFlag,
				doc: "Compile and load it again even if nothing has changed. Default: false."},
			debugParam("Compilation quality DEBUG of what is compiled; 3, with force, keeps every frame and local variable, and lets step go in."),
			{name: "timeout", kind: kindNumber, def: min(loadTimeout, o.MaxTimeout).Seconds(), min: 0, above: true, max: o.MaxTimeout.Seconds(),
				aliases: []alias{{name: "timeout_seconds"}, {name: "timeout_ms", scale: 1e-3}},
				doc:     "Seconds, more than 0, after which loading is stopped."},
		}
	},
	example:     `{"system": "alexandria"}`,
	destructive: true,
	openWorld:   true,
	idempotent:  true,
	ordered:     true,
	run:         loadSystem,
}

func loadSystem(ctx context.Context, r *request) (reply, error) {
	name := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(r.text("system")), ":"))
	force, debug := r.flag("force"), r.integer("debug")
	timeout := max(time.Duration(r.number("timeout")*float64(time.Second)), time.Millisecond)
	if r.err == nil && name == "" {
		r.fail("system is empty; it must be the name of a system.")
	}
	if r.err != nil {
		return reply{}, r.err
	}
	system := name
	if file, ok := r.definition(name); ok {
		system, name = file, strings.TrimSuffix(filepath.Base(file), ".asd")
	}
	if r.err != nil {
		return reply{}, r.err
	}
	res, err := r.image.Evaluate(ctx, r.session, lisp.Request{
		System: system, Force: force, Timeout: timeout, Debug: debug,
		Progress: r.progress, Queued: r.admit,
	})
	if err != nil {
		return reply{}, err
	}
	return loadText(name, timeout, res), nil
}

// definition is the absolute path of the definition that name is, if it is one.
func (r *request) definition(name string) (string, bool) {
	if !strings.HasSuffix(name, ".asd") || strings.ContainsAny(name, "\"\n") {
		return "", false
	}
	return r.path("system", false), true
}

// loadText is the text of load-system: a transcript, or the failure and what
// came before it.
func loadText(name string, timeout time.Duration, res *lisp.Result) reply {
	res.Stderr = withoutCompilerNoise(res.Stderr)
	if f := res.Failure; f != nil {
		f.Frames = slices.DeleteFunc(f.Frames, ofASDF)
		text, _ := ResultText(res, View{Timeout: timeout})
		return reply{text: text + originRemark(res), failed: true, failure: f}
	}
	lines := []string{"Loading system: " + sanitize(name)}
	if out := textOf(res.Stdout); out != "" {
		lines = append(lines, out)
	}
	lines = append(lines, "Loaded: "+sanitize(name))
	if res.Origin != "" {
		lines = append(lines, originLine(res))
	}
	var p parts
	p.WriteString(strings.Join(lines, "\n"))
	p.section("stderr", res.Stderr)
	p.warnings(res.Warnings)
	p.section("background output", res.Background)
	p.remarks(res, View{})
	return reply{text: p.String()}
}

// originLine says which file defines the system.
func originLine(res *lisp.Result) string { return "Defined in: " + sanitize(res.Origin) }

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
