package tools

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"swank-mcp/mcpbridge/render"
	"swank-mcp/swank/lisp"
)

// Profiles remembers the last profile of each form, so that the next one of the same
// form can be compared with it. The zero value is ready; any goroutine may call the
// methods.
type Profiles struct {
	mu     sync.Mutex
	count  int // profiles with a flame graph so far
	newest []profiled
}

// profilesKept is how many forms are remembered.
const profilesKept = 16

// profiled is a profile in units of one run of the form.
type profiled struct {
	key   string // the mode, the form and the functions that were watched
	unit  string // "ms", "kB"
	whole float64
	// costs are those of the project's and other programs' functions, with what they call.
	costs map[string]cost
}

// cost is what a function costs, and how far chance may have it be off.
type cost struct{ amount, off float64 }

// costOf is p in units of one run; watched are the functions whose calls were timed.
func costOf(p *lisp.Profile, mode, watched, code string, repeat int) profiled {
	runs := float64(max(repeat, 1))
	c := profiled{key: strings.Join([]string{mode, watched, strings.Join(strings.Fields(code), " ")}, "\n"), unit: "ms",
		whole: float64(p.Elapsed) / float64(time.Millisecond) / runs, costs: map[string]cost{}}
	if mode == "calls" {
		for _, row := range p.Rows {
			amount := float64(row.Total) / 1000 / runs
			c.costs[row.Function] = cost{amount, amount / 20}
		}
		return c
	}
	each := c.whole / float64(max(p.Samples, 1)) // of one sample
	switch mode {
	case "cpu": // of a form that waits, most of the time is in no sample
		each = min(each, sampleEvery/runs)
	case "alloc":
		c.unit = "kB"
		c.whole = float64(p.Bytes) / 1000 / runs
		each = c.whole / float64(max(p.Samples, 1))
	}
	for name, n := range onStacks(p) {
		c.costs[name] = cost{float64(n) * each, math.Sqrt(float64(n)) * each}
	}
	return c
}

// sampleEvery is the time between two samples, in milliseconds.
const sampleEvery = 5.0

// onStacks counts, for each function of the project or another program, the samples that
// have it on their stack; not for the form, which is all.
func onStacks(p *lisp.Profile) map[string]int64 {
	counts := map[string]int64{}
	for _, s := range p.Stacks {
		seen := map[string]bool{}
		for _, i := range s.Frames {
			if f := p.Frames[i]; f.Kind <= lisp.ProgramFrame && f.Function != "the form" && !seen[f.Function] {
				seen[f.Function] = true
				counts[f.Function] += s.Samples
			}
		}
	}
	return counts
}

// Compare remembers the profile now and returns a line that compares it with the last one
// of the same form and mode, "" if there was none.
func (ps *Profiles) Compare(now profiled) string {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	i := slices.IndexFunc(ps.newest, func(p profiled) bool { return p.key == now.key })
	var before profiled
	if i >= 0 {
		before = ps.newest[i]
		ps.newest = slices.Delete(ps.newest, i, i+1)
	}
	ps.newest = append(ps.newest, now)
	if len(ps.newest) > profilesKept {
		ps.newest = ps.newest[1:]
	}
	if i < 0 {
		return ""
	}
	return comparison(before, now)
}

// graphName is the name of the next file with a flame graph.
func (ps *Profiles) graphName() string {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ps.count++
	return fmt.Sprintf("profile-%d.svg", ps.count)
}

// changesShown is how many functions a comparison names.
const changesShown = 8

// comparison says which functions cost more or less than before, by more than chance.
func comparison(before, now profiled) string {
	type change struct {
		name     string
		from, to float64
	}
	var changes []change
	names := maps.Clone(before.costs)
	maps.Copy(names, now.costs)
	for name := range names {
		was, is := before.costs[name], now.costs[name] // 0 in the run that did not see it
		if math.Abs(is.amount-was.amount) > 2*math.Hypot(is.off, was.off) {
			changes = append(changes, change{name, was.amount, is.amount})
		}
	}
	slices.SortFunc(changes, func(a, b change) int {
		return cmp.Or(cmp.Compare(math.Abs(b.to-b.from), math.Abs(a.to-a.from)), strings.Compare(a.name, b.name))
	})
	more := max(len(changes)-changesShown, 0)
	texts := []string{fmt.Sprintf("all %s → %s %s", amount(before.whole), amount(now.whole), now.unit)}
	for _, c := range changes[:len(changes)-more] {
		texts = append(texts, fmt.Sprintf("%s %s → %s %s", render.Safe(c.name), amount(c.from), amount(c.to), now.unit))
	}
	text := "; The run before → this one, each time: " + strings.Join(texts, ", ")
	switch {
	case more > 0:
		text += fmt.Sprintf(", and %d more", more)
	case len(changes) == 0:
		text += "; no function has changed by more than chance"
	}
	return text
}

// amount is a number to two or three figures.
func amount(v float64) string {
	switch {
	case v >= 10:
		return render.Count(int64(math.Round(v)))
	case v == 0:
		return "0"
	}
	return fmt.Sprintf("%.2g", v)
}

// neighboursShown is how many callers or callees of a function are named.
const neighboursShown = 5

// neighbours returns, for each function, the samples by its callers and by its callees:
// the functions next to it on the stacks, leaving out the Lisp's inside.
func neighbours(p *lisp.Profile) (callers, callees map[string]map[string]int64) {
	callers, callees = map[string]map[string]int64{}, map[string]map[string]int64{}
	count := func(in map[string]map[string]int64, of, name string, samples int64, seen map[[2]string]bool) {
		if of == name || seen[[2]string{of, name}] {
			return
		}
		seen[[2]string{of, name}] = true
		if in[of] == nil {
			in[of] = map[string]int64{}
		}
		in[of][name] += samples
	}
	for _, s := range p.Stacks {
		last, up, down := "", map[[2]string]bool{}, map[[2]string]bool{}
		for _, i := range s.Frames {
			f := p.Frames[i]
			if f.Kind == lisp.InternalFrame {
				continue
			}
			if last != "" {
				count(callers, f.Function, last, s.Samples, up)
				count(callees, last, f.Function, s.Samples, down)
			}
			last = f.Function
		}
	}
	return callers, callees
}

// otherLeaves counts the samples in functions by themselves that no row shows.
func otherLeaves(p *lisp.Profile) map[string]int64 {
	samples := map[string]int64{}
	for _, s := range p.Stacks {
		if len(s.Frames) > 0 {
			samples[p.Frames[s.Frames[len(s.Frames)-1]].Function] += s.Samples
		}
	}
	for _, row := range p.Rows {
		delete(samples, row.Function)
	}
	return samples
}

// neighbourText is "NAME 12.3 %, …" of the functions with the most samples.
func neighbourText(samples map[string]int64, all int64) string {
	texts := mostSampled(samples, all, neighboursShown)
	if more := len(samples) - neighboursShown; more > 0 {
		texts = append(texts, fmt.Sprintf("%d more", more))
	}
	return strings.Join(texts, ", ")
}

// mostSampled returns "NAME 12.3 %" of those functions, at most, with the most samples.
func mostSampled(samples map[string]int64, all int64, most int) (texts []string) {
	names := slices.SortedFunc(maps.Keys(samples), func(a, b string) int {
		return cmp.Or(cmp.Compare(samples[b], samples[a]), strings.Compare(a, b))
	})
	for _, name := range names[:min(len(names), most)] {
		texts = append(texts, fmt.Sprintf("%s %.1f %%", render.Safe(name), share(samples[name], all)))
	}
	return texts
}
