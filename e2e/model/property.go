//go:build unix

package model

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"swank-mcp/internal/tier"
)

var (
	sequences = flag.Int("model.sequences", 0, "how many sequences of steps a property tries; 0 is its own number")
	length    = flag.Int("model.steps", 0, "how many steps each of them has; 0 is its own number")
)

// Property is the model with a choice of steps and a check.
type Property struct {
	Weights          map[string]int // how often each step is taken, by its name
	Sequences, Steps int            // what is tried without flags; no sequences are one
	Together         int            // how many steps are taken at a time; 0 is one
	Begin            func(*Run)     // makes the world
	Check, End       func(*Run)     // compare, after each step and after the last; nil do not
}

// Step is one step. What it does is chosen at random, and depends on what there is by then.
type Step struct {
	*rand.Rand
	N int // its number, by which what it defines answers
}

func one[T any](s Step, of ...T) T { return of[s.IntN(len(of))] }

// flags of rapid are read when a check begins: one check at a time sets them.
var flags sync.Mutex

// Holds tries the property.
func (p Property) Holds(t *testing.T) {
	t.Helper()
	p.Steps = cmp.Or(*length, p.Steps)
	from := max(1, tier.Seed(t))
	for i := range cmp.Or(*sequences, p.Sequences, 1) {
		seed := from + uint64(i)
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			flags.Lock()
			begun := sync.OnceFunc(flags.Unlock)
			defer begun()
			for name, value := range map[string]string{"seed": fmt.Sprint(seed), "checks": "1", "nofailfile": "true"} {
				if err := flag.Set("rapid."+name, value); err != nil {
					t.Fatal(err)
				}
			}
			first := ""
			rapid.Check(t, func(rt *rapid.T) {
				begun()
				if r := p.sequence(t, rt); r.failure != "" {
					first = cmp.Or(first, r.failure)
					rt.Fatalf("SWANK_MCP_SEED=%d -model.sequences=1 -model.steps=%d fails; at first:\n%s\n\nshortened, this does:\n%s\n%s",
						seed, p.Steps, first, r.script.text(r.World), r.failure)
				}
			})
		})
	}
}

// seeds generates groups of random sources, one source for a step: rapid leaves out a group at once.
// The numbers of rapid are often small, so two make one source.
var seeds = rapid.Custom(func(rt *rapid.T) (of []*rand.PCG) {
	base := rapid.Uint64().Draw(rt, "base")
	for _, step := range rapid.SliceOfN(rapid.Uint64(), 1, 8).Draw(rt, "steps") {
		of = append(of, rand.NewPCG(step, base))
	}
	return of
})

// sequence takes steps until one fails, in a test of its own, whose end is that of its servers.
func (p Property) sequence(t *testing.T, rt *rapid.T) (r *Run) {
	var thrown any // by rapid
	t.Run("steps", func(t *testing.T) {
		defer func() { thrown = recover() }()
		r = newRun(t)
		p.Begin(r)
		var names []string // the same for the same seed
		for _, name := range slices.Sorted(maps.Keys(p.Weights)) {
			names = append(names, slices.Repeat([]string{name}, p.Weights[name])...)
		}
		take := func(s Step) bool {
			r.take(one(s, names...), s, p.Check)
			return r.failure == ""
		}
		all := func(yield func(Step) bool) {
			for n := 0; n < p.Steps; {
				for _, seed := range seeds.Draw(rt, "steps") {
					if n++; n > p.Steps || !yield(Step{rand.New(seed), 99 + n}) {
						return
					}
				}
			}
		}
		if p.Together > 0 {
			r.together(p.Together, slices.Collect(all), take)
		} else {
			all(take)
		}
		if p.End != nil {
			p.End(r)
		}
		t.Logf("of %d steps were taken %v", p.Steps, r.taken)
		for name, weight := range p.Weights {
			if expected := p.Steps * weight / len(names); expected >= 20 && r.taken[name] == 0 {
				r.fails("%q could never be taken", name)
			}
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
