package mcpbridge

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"swank-mcp/swank/lisp"
)

var profileCodeTool = tool{
	name:  "profile-code",
	title: "Profile code",
	doc: "Run a form and show which functions take its time, alone and with what they call. " +
		"mode: cpu or wall time, alloc (all by sampling), or calls: number and time of the calls of the functions named.",
	params: func(o *Options) []param {
		return append([]param{
			{name: "code", kind: kindText, required: true, doc: "The form.", aliases: []alias{{name: "form"}}},
			{name: "mode", kind: kindText, def: "cpu", enum: []string{"cpu", "wall", "alloc", "calls"}, fold: profileMode, doc: "What to measure."},
			{name: "functions", kind: kindText, doc: "For calls: names, blanks between.", aliases: []alias{{name: "function"}}},
			{name: "repeat", kind: kindInteger, def: 1.0, min: 1, max: 1e9, doc: "Times to run it."},
			{name: "limit", kind: kindInteger, def: 25.0, min: 1, max: 200, hidden: true, doc: "Functions to show."},
			{name: "package", kind: kindText, hidden: true, doc: "Package to read the code in."},
		}, quietTimeout(o)...)
	},
	example:     `{"code": "(loop repeat 1000000 sum (random 10))"}`,
	destructive: true,
	openWorld:   true,
	ordered:     true,
	run:         (*Bridge).profileCode,
}

// profileMode knows other names of the modes.
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

func (b *Bridge) profileCode(ctx context.Context, r *request) (reply, error) {
	code, mode := r.text("code"), r.text("mode")
	how := lisp.Profiling{
		Mode: strings.ToUpper(mode), Functions: strings.TrimSpace(r.text("functions")),
		Repeat: r.integer("repeat"), Limit: r.integer("limit"),
	}
	if mode == "wall" {
		how.Mode = "TIME"
	}
	in := b.sessionRequest(ctx, r)
	switch {
	case r.err != nil:
	case mode == "calls" && how.Functions == "":
		r.fail("mode calls needs functions: the names of those whose calls are timed.")
	case mode != "calls" && how.Functions != "":
		r.fail(`functions goes with mode "calls"; mode %q samples all functions.`, mode)
	}
	if r.err != nil {
		return reply{}, r.err
	}
	p, res, err := b.o.Image.Profile(ctx, b.o.Session, code, how, in)
	if err != nil {
		return reply{}, err
	}
	text := profileText(p, res, mode, how.Repeat)
	if text == "" && mode == "calls" && res.Failure != nil && len(res.Failure.Frames) == 0 { // refused before it ran
		text = nextFunctions("profile-code", p.Names, "mode", mode, "code", code)
	}
	if res.Failure != nil {
		return failedWork(res, View{Timeout: in.Timeout}, text), nil
	}
	var out parts
	out.b.WriteString(text + "\n\n=> " + sanitize(p.Value))
	out.context(res)
	return reply{text: out.b.String()}, nil
}

// enoughSamples is from how many on a share can be acted on.
const enoughSamples = 100

func profileText(p *lisp.Profile, res *lisp.Result, mode string, repeat int) string {
	if p.Elapsed == 0 && len(p.Rows) == 0 {
		return ""
	}
	var b strings.Builder
	switch mode {
	case "calls":
		fmt.Fprintf(&b, "[profile] %s in all\n  Self %%   Self ms  Total ms      Calls  Function", millis(p.Elapsed))
		for _, row := range p.Rows {
			fmt.Fprintf(&b, "\n%8.1f %9s %9s %10s  %s", share(row.Self, p.Elapsed.Microseconds()),
				ms(row.Self), ms(row.Total), count(row.Calls), sanitize(row.Function))
		}
		return b.String()
	case "alloc": // all samples are the allocator's own
		fmt.Fprintf(&b, "[profile] alloc: %s in %s, %s bytes consed\n Total %%  Function", plural(int(p.Samples), "sample"),
			millis(p.Elapsed), count(res.Timing.Bytes))
		for _, row := range p.Rows {
			fmt.Fprintf(&b, "\n%8.1f  %s", share(row.Total, p.Samples), sanitize(row.Function))
		}
	default:
		fmt.Fprintf(&b, "[profile] %s: %s in %s\n  Self %%  Total %%  Samples  Function", mode, plural(int(p.Samples), "sample"), millis(p.Elapsed))
		for _, row := range p.Rows {
			fmt.Fprintf(&b, "\n%8.1f %8.1f %8d  %s", share(row.Self, p.Samples), share(row.Total, p.Samples), row.Self, sanitize(row.Function))
		}
	}
	if p.Samples < enoughSamples && res.Failure == nil {
		more := math.Ceil(2 * enoughSamples / float64(max(p.Samples, 1)))
		if p.Samples == 0 {
			more = math.Ceil(float64(2*time.Second) / float64(max(p.Elapsed, time.Microsecond)))
		}
		fmt.Fprintf(&b, "\n; Too few samples to tell small shares; take some %d: {\"repeat\": %d}", 2*enoughSamples, int(min(more*float64(repeat), 1e9)))
	}
	return b.String()
}

func share(part, whole int64) float64 { return 100 * float64(part) / float64(max(whole, 1)) }

// ms is microseconds as milliseconds.
func ms(us int64) string { return fmt.Sprintf("%.1f", float64(us)/1000) }
