//go:build unix

package model

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"swank-mcp/internal/tier"
)

var (
	sequences = flag.Int("model.sequences", 0, "how many sequences of steps a property tries; 0 is its own number")
	length    = flag.Int("model.steps", 0, "how many steps each of them has; 0 is its own number")
	without   = flag.String("model.without", "", "steps that are left out: die,edits and loads")
)

// Property is the model with a choice of steps and a check.
type Property struct {
	Weights          map[string]int // how often each step is taken, by its name
	Sequences, Steps int            // what is tried without flags
	Begin            func(*Run)     // makes the world
	Check            func(*Run)     // compares, after each step
	End              func(*Run)     // compares, after the last
	Together         int            // how many steps are taken at a time, and then not checked each; 0 is one
}

// Step is one step. What it does is chosen at random, and depends on what there is by then.
type Step struct {
	*rand.Rand
	N int // its number, by which what it defines answers
}

func one[T any](s Step, of ...T) T { return of[s.IntN(len(of))] }

// Holds tries the property.
func (p Property) Holds(t *testing.T) {
	t.Helper()
	p.Sequences, p.Steps = cmp.Or(*sequences, p.Sequences, 1), cmp.Or(*length, p.Steps)
	var names []string // the same for the same seed
	for _, name := range slices.Sorted(maps.Keys(p.Weights)) {
		if steps[name] == nil {
			t.Fatalf("there is no step %q", name)
		}
		if !slices.Contains(strings.Split(*without, ","), name) {
			names = append(names, slices.Repeat([]string{name}, p.Weights[name])...)
		}
	}
	var mu sync.Mutex
	taken := map[string]int{}
	t.Cleanup(func() { // when all sequences have ended
		for _, name := range slices.Compact(names) {
			if expected := p.Sequences * p.Steps * p.Weights[name] / len(names); expected >= 20 && taken[name] == 0 && !t.Failed() {
				t.Errorf("%q was never taken, but for %v", name, taken)
			}
		}
		t.Logf("%d sequences of %d steps, of those that could be taken %v", p.Sequences, p.Steps, taken)
	})
	seed := tier.Seed(t)
	for i := range uint64(p.Sequences) {
		t.Run(fmt.Sprintf("%d", seed+i), func(t *testing.T) {
			t.Parallel()
			p.checkOnce(t, max(1, seed+i), func(rt *rapid.T) *Run {
				r := p.sequence(t, names, rt)
				mu.Lock()
				defer mu.Unlock()
				for name, n := range r.taken {
					taken[name] += n
				}
				return r
			})
		})
	}
}

// flags of rapid are read when a check begins: one check at a time sets them.
var flags sync.Mutex

// checkOnce has rapid try one sequence, and make it shorter if it fails.
func (p Property) checkOnce(t *testing.T, seed uint64, sequence func(*rapid.T) *Run) {
	begun := sync.OnceFunc(flags.Unlock)
	flags.Lock()
	defer begun()
	for name, value := range map[string]string{"seed": fmt.Sprint(seed), "checks": "1", "nofailfile": "true"} {
		if err := flag.Set("rapid."+name, value); err != nil {
			t.Fatal(err)
		}
	}
	first, again := "", fmt.Sprintf("SWANK_MCP_SEED=%d -model.sequences=1 -model.steps=%d", seed, p.Steps)
	rapid.Check(t, func(rt *rapid.T) {
		begun()
		if r := sequence(rt); r.failure != "" {
			first = cmp.Or(first, r.failure)
			rt.Fatalf("%s fails; at first:\n%s\n\nshortened, this does:\n%s\n%s", again, first, r.script.text(r.World), r.failure)
		}
	})
}

// seeds are those of some steps, which rapid leaves out at once. Its numbers are often small:
// two make another one.
var seeds = rapid.Custom(func(rt *rapid.T) (of []*rand.PCG) {
	base := rapid.Uint64().Draw(rt, "base")
	for _, step := range rapid.SliceOfN(rapid.Uint64(), 1, 8).Draw(rt, "steps") {
		of = append(of, rand.NewPCG(step, base))
	}
	return of
})

// sequence takes steps until one fails, in a test of its own, whose end is that of its servers.
func (p Property) sequence(t *testing.T, names []string, rt *rapid.T) (r *Run) {
	var thrown any // by rapid
	t.Run("steps", func(t *testing.T) {
		defer func() { thrown = recover() }()
		r = newRun(t)
		p.Begin(r)
		all := func(yield func(Step) bool) {
			for n := 0; n < p.Steps; {
				for _, seed := range seeds.Draw(rt, "steps") {
					if n++; n > p.Steps || !yield(Step{rand.New(seed), 99 + n}) {
						return
					}
				}
			}
		}
		take := func(s Step) bool {
			r.take(one(s, names...), s, p.Check)
			return r.failure == ""
		}
		if p.Together > 0 {
			r.together(p.Together, slices.Collect(all), take)
		} else {
			for s := range all {
				if !take(s) {
					return
				}
			}
		}
		if p.End != nil && r.failure == "" {
			p.End(r)
		}
	})
	if thrown != nil {
		panic(thrown)
	}
	return r
}

// together takes steps at random times, until take fails.
func (r *Run) together(at int, all []Step, take func(Step) bool) {
	var workers sync.WaitGroup
	for range at {
		workers.Go(func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			for len(all) > 0 && r.failure == "" {
				s := all[0]
				all = all[1:]
				take(s)
			}
		})
	}
	r.mu.Unlock()
	workers.Wait()
	r.mu.Lock()
}
