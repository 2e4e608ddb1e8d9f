package tools

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"swank-mcp/mcpbridge/args"
	"swank-mcp/mcpbridge/flame"
	"swank-mcp/mcpbridge/render"
	"swank-mcp/swank/lisp"
)

var profileCodeTool = Tool{
	Name:  "profile-code",
	Title: "Profile code",
	Set:   Profile,
	Doc: "Run a form and show which functions take its time, with what they call and alone, the project's first; a flame graph as an SVG file; " +
		"what changed since the last run of the same form. mode: cpu or wall time, alloc (all by sampling), or calls: number and time of the calls of the functions named.",
	Params: []args.Param{
		{Name: "code", Kind: args.Text, Required: true, Doc: "The form.", Aliases: []args.Alias{{Name: "form"}}},
		{Name: "mode", Kind: args.Text, Def: "cpu", Enum: []string{"cpu", "wall", "alloc", "calls"}, Fold: profileMode, Doc: "What to measure."},
		{Name: "functions", Kind: args.Text, Doc: "For mode calls: names of functions, or of packages for all their functions, separated by blanks.", Aliases: []args.Alias{{Name: "function"}}},
		{Name: "repeat", Kind: args.Integer, Def: 1.0, Min: 1, Max: 1e9, Doc: "Times to run it."},
		{Name: "package", Kind: args.Text, Aliases: []args.Alias{{Name: "in-package"}}, Doc: "Read the code in it, and show all of its functions and no others."},
		{Name: "callers", Kind: args.Flag, Aliases: []args.Alias{{Name: "callees"}}, Doc: "Also who calls each function and what it calls."},
		{Name: "limit", Kind: args.Integer, Def: 25.0, Min: 1, Max: 200, Hidden: true, Doc: "Functions to show."},
		quietTimeout,
	},
	Example: `{"code": "(loop repeat 1000000 sum (random 10))"}`,
	Effect:  runsCode,
	run:     profileCode,
}

func profileMode(mode string) string {
	switch strings.ToLower(strings.TrimPrefix(mode, ":")) {
	case "time", "real", "wall-clock", "wallclock", "elapsed":
		return "wall"
	case "statistical", "sampling":
		return "cpu"
	case "allocation", "memory", "consing":
		return "alloc"
	case "deterministic", "count":
		return "calls"
	}
	return strings.ToLower(strings.TrimPrefix(mode, ":"))
}

func profileCode(ctx context.Context, r *Request) (Reply, error) {
	code, mode := r.Text("code"), r.Text("mode")
	how := lisp.Profiling{
		Mode: strings.ToUpper(mode), Functions: strings.TrimSpace(r.Text("functions")),
		Repeat: r.Integer("repeat"), Limit: r.Integer("limit"),
	}
	if mode == "wall" {
		how.Mode = "TIME"
	}
	in := r.sessionRequest()
	switch {
	case mode == "calls" && how.Functions == "" && in.Package == "":
		return Reply{}, r.Fail("mode calls needs functions: the names of those whose calls are timed. With package, it times all of that package.")
	case mode == "calls" && r.Flag("callers"):
		return Reply{}, r.Fail("callers goes with the modes that sample: cpu, wall and alloc.")
	case mode != "calls" && how.Functions != "":
		return Reply{}, &args.Error{
			Problem: fmt.Sprintf(`functions goes with mode "calls"; mode %q samples all functions.`, mode),
			Advice:  nextCall("profile-code", "code", code, "mode", "calls", "functions", how.Functions),
		}
	}
	p, res, err := r.Session.Profile(ctx, code, how, in)
	if err != nil {
		return Reply{}, err
	}
	text := profileText(p, res, mode, how, r.Flag("callers"), in.Package)
	if text == "" && mode == "calls" && res.Failure != nil && len(res.Failure.Frames) == 0 { // refused before it ran
		text = nextFunctions("profile-code", p.Names, how.Functions, res.Failure.Type, "mode", mode, "code", code)
	}
	if graph := r.flameGraph(p, code, mode); graph != "" {
		text += "\n" + graph
	}
	if res.Failure != nil {
		return failedWork(res, in.Timeout, text), nil
	}
	watched := ""
	if mode == "calls" {
		watched = strings.ToLower(cmp.Or(how.Functions, in.Package))
	}
	if compared := r.Profiles.Compare(costOf(p, mode, watched, code, how.Repeat)); compared != "" {
		text += "\n" + compared
	}
	var out render.Parts
	out.WriteString(text + "\n\n=> " + render.Safe(p.Value))
	out.Context(res)
	return Reply{Text: out.String()}, nil
}

const (
	// enoughSamples is the least number of samples whose shares mean something.
	enoughSamples = 100
	// mostSamples is how many the helper lets the profiler keep.
	mostSamples = 100_000
	// regionBytes is how much is allocated between two samples of mode alloc.
	// An object of its own region is one sample, whatever its size.
	regionBytes = 32 << 10
)

// flameGraph writes the flame graph of p and says where, "" if there is none. It is only
// a path: MCP's images are for hosts that show PNG and JPEG, few show SVG.
func (r *Request) flameGraph(p *lisp.Profile, code, mode string) string {
	svg := flame.SVG(fmt.Sprintf("%s: %s", mode, strings.Join(strings.Fields(code), " ")), p)
	if svg == nil {
		return ""
	}
	path, err := r.Files.Write(r.Profiles.graphName(), svg)
	if err != nil {
		return "; The flame graph could not be written: " + render.Safe(err.Error())
	}
	return "; Flame graph: " + render.Safe(path)
}

func profileText(p *lisp.Profile, res *lisp.Result, mode string, how lisp.Profiling, around bool, pkg string) string {
	if p.Elapsed == 0 && len(p.Rows) == 0 {
		return ""
	}
	var b strings.Builder
	if mode == "calls" {
		fmt.Fprintf(&b, "[profile] %s in all\n  Self %%   Self ms  Total ms      Calls  Function", render.Millis(p.Elapsed))
		rows := p.Rows[:min(len(p.Rows), how.Limit)]
		for _, row := range rows {
			fmt.Fprintf(&b, "\n%8.1f %9s %9s %10s  %s", share(row.Self, p.Elapsed.Microseconds()),
				ms(row.Self), ms(row.Total), render.Count(row.Calls), render.Safe(row.Function))
		}
		if more := len(p.Rows) - len(rows); more > 0 {
			fmt.Fprintf(&b, "\n; %d more; a higher limit shows them.", more)
		}
		return b.String()
	}
	fmt.Fprintf(&b, "[profile] %s: %s in %s", mode, render.Plural(int(p.Samples), "sample"), render.Millis(p.Elapsed))
	if mode == "alloc" {
		fmt.Fprintf(&b, ", %s bytes consed", render.Count(p.Bytes))
	}
	b.WriteString("\n  Self %  Total %  Samples  Function")
	var callers, callees map[string]map[string]int64
	if around {
		callers, callees = neighbours(p)
	}
	own := p.Samples
	for i, row := range p.Rows {
		switch {
		case i == 0:
		case i == p.Projects+p.Programs:
			b.WriteString("\n; Of the Lisp's own:")
		case i == p.Projects:
			b.WriteString("\n; Of other programs:")
		}
		fmt.Fprintf(&b, "\n%8.1f %8.1f %8d  %s", share(row.Self, p.Samples), share(row.Total, p.Samples), row.Self, render.Safe(row.Function))
		own -= row.Self
		if text := neighbourText(callers[row.Function], p.Samples); text != "" {
			b.WriteString("\n" + strings.Repeat(" ", 30) + "called by " + text)
		}
		if text := neighbourText(callees[row.Function], p.Samples); text != "" {
			b.WriteString("\n" + strings.Repeat(" ", 30) + "calls " + text)
		}
	}
	if pkg != "" && p.Samples > 0 {
		fmt.Fprintf(&b, "\n; By themselves, other functions: %.1f %%, %s", share(own, p.Samples), render.Plural(int(own), "sample"))
		if first := mostSampled(otherLeaves(p), p.Samples, 2); len(first) > 0 {
			b.WriteString(", the first of them " + strings.Join(first, " and "))
		}
		b.WriteString(".")
	}
	switch {
	case p.Samples >= mostSamples:
		fmt.Fprintf(&b, "\n; Only the first %s samples were kept.", render.Count(mostSamples))
	case mode == "alloc" && p.Samples > 0 && p.Bytes/p.Samples > regionBytes*3/2:
		b.WriteString("\n; Large objects were allocated. Each is one sample, like 32 kB of small ones: the functions that make them have a larger share of the bytes than is shown.")
	}
	if p.Samples < enoughSamples && res.Failure == nil {
		b.WriteString(moreSamples(p, mode, how.Repeat))
	}
	return b.String()
}

// moreSamples says how often to run a form to get enough samples.
func moreSamples(p *lisp.Profile, mode string, repeat int) string {
	more := math.Ceil(2 * enoughSamples / float64(max(p.Samples, 1)))
	switch {
	case p.Samples > 0:
	case mode == "alloc" && p.Bytes == 0:
		return fmt.Sprintf("\n; Nothing was sampled: of small objects, one in 32 kB is. If the form allocates at all, this shows it: {\"repeat\": %d}",
			min(max(repeat*100, 100_000), 1e9))
	case mode == "alloc":
		more = math.Ceil(2 * enoughSamples * regionBytes / float64(p.Bytes))
	default:
		more = math.Ceil(float64(2*time.Second) / float64(max(p.Elapsed, time.Microsecond)))
	}
	return fmt.Sprintf("\n; Too few samples to tell small shares; take some %d: {\"repeat\": %d}",
		2*enoughSamples, int(min(more*float64(repeat), 1e9)))
}

func share(part, whole int64) float64 { return 100 * float64(part) / float64(max(whole, 1)) }

func ms(us int64) string { return fmt.Sprintf("%.1f", float64(us)/1000) }
