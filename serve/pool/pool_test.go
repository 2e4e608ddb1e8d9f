package pool

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// thing is what the pools of these tests have.
type thing struct {
	kind   string
	dead   atomic.Bool
	closed atomic.Int32
}

func (t *thing) Alive() bool { return !t.dead.Load() && t.closed.Load() == 0 }
func (t *thing) Close()      { t.closed.Add(1) }

// factory makes them, each in 10 ms.
type factory struct {
	mu   sync.Mutex
	made []*thing
	at   []time.Time // of each try
	fail bool
}

func (f *factory) start(ctx context.Context, kind string) (*thing, error) {
	time.Sleep(10 * time.Millisecond)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at = append(f.at, time.Now())
	if f.fail || ctx.Err() != nil {
		return nil, errors.New("no memory")
	}
	t := &thing{kind: kind}
	f.made = append(f.made, t)
	return t, nil
}

// all are those that were made.
func (f *factory) all() []*thing {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.made)
}

// fails says from now on whether starts fail, and forgets the tries before.
func (f *factory) fails(fail bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fail, f.at = fail, nil
}

func (f *factory) tries() []time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.at)
}

func (f *factory) open() (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, t := range f.made {
		if t.closed.Load() == 0 {
			n++
		}
		if t.closed.Load() > 1 {
			panic("closed twice")
		}
	}
	return n
}

// pass lets time pass.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// run fills a pool in a bubble of time, and ends it.
func run(t *testing.T, size int, first []string, room func() int, test func(p *Pool[string, *thing], f *factory)) {
	synctest.Test(t, func(t *testing.T) {
		f := &factory{}
		p := New(Options[string, *thing]{Size: size, First: first, Start: f.start})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			p.Fill(ctx, room)
			close(done)
		}()
		pass(5 * time.Second)
		test(p, f)
		cancel()
		<-done
		if p.Len() != 0 {
			t.Errorf("after its end it has %d", p.Len())
		}
	})
}

func always() int { return 100 }

func (p *Pool[K, V]) has() (kinds []K) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range p.free {
		kinds = append(kinds, e.kind)
	}
	return kinds
}

func sorted(s []string) []string { slices.Sort(s); return s }

// What is taken is the taker's, and is made again; a kind that is asked for often, or for the
// first time, is there the next time.
func TestKinds(t *testing.T) {
	run(t, 3, []string{"a", "b"}, always, func(p *Pool[string, *thing], f *factory) {
		if got := sorted(p.has()); !slices.Equal(got, []string{"a", "a", "b"}) {
			t.Fatalf("at first: %v", got)
		}
		one, ok := p.Take("b")
		if !ok || one.kind != "b" || !one.Alive() {
			t.Fatalf("%+v, %v", one, ok)
		}
		if _, ok := p.Take("b"); ok {
			t.Error("there was one only")
		}
		pass(5 * time.Second)
		if got := sorted(p.has()); !slices.Equal(got, []string{"a", "b", "b"}) {
			t.Errorf("after two b: %v", got)
		}
		for _, k := range []string{"c", "d"} {
			if _, ok := p.Take(k); ok {
				t.Errorf("there is a %s", k)
			}
		}
		pass(5 * time.Second)
		if got := sorted(p.has()); !slices.Equal(got, []string{"b", "c", "d"}) {
			t.Errorf("after c and d: %v", got)
		}
		if f.open() != 4 || p.Len() != 3 || !one.Alive() {
			t.Errorf("%d are open, of which the pool has %d", f.open(), p.Len())
		}
		if c := p.Counts(); c != (Counts{Waiting: 3, Taken: 1, Missed: 3}) {
			t.Errorf("%+v", c)
		}
	})
}

// What has ended by itself is not handed over, and is replaced, later and later.
func TestDead(t *testing.T) {
	run(t, 1, []string{"a"}, always, func(p *Pool[string, *thing], f *factory) {
		f.all()[0].dead.Store(true)
		if _, ok := p.Take("a"); ok {
			t.Error("it is dead")
		}
		pass(5 * time.Second)
		all := f.all()
		if len(all) != 2 || all[0].closed.Load() != 1 || p.Len() != 1 {
			t.Errorf("%d were made, the pool has %d", len(all), p.Len())
		}
		before := len(all)
		for range 100 {
			all = f.all()
			all[len(all)-1].dead.Store(true)
			pass(3 * time.Second)
		}
		if n := len(f.all()) - before; n < 5 || n > 15 {
			t.Errorf("in 5 minutes of dying %d were made", n)
		}
	})
}

// Starts that fail are tried again after a second, later and later.
func TestFailing(t *testing.T) {
	run(t, 1, []string{"a"}, always, func(p *Pool[string, *thing], f *factory) {
		f.fails(true)
		p.Take("a")
		pass(3 * time.Minute)
		at := f.tries()
		var pauses []time.Duration
		for i := 1; i < len(at); i++ {
			pauses = append(pauses, at[i].Sub(at[i-1]).Round(time.Second))
		}
		want := []time.Duration{1, 2, 4, 8, 16, 32, 60}
		for i := range want {
			want[i] *= time.Second
		}
		if !slices.Equal(pauses, want) {
			t.Errorf("pauses: %v", pauses)
		}
		if c := p.Counts(); c.Failed != len(at) || p.Len() != 0 {
			t.Errorf("%+v of %d tries, it has %d", c, len(at), p.Len())
		}
	})
}

// There is nothing without room, and what there is gives way.
func TestRoom(t *testing.T) {
	var room atomic.Int64
	run(t, 2, []string{"a"}, func() int { return int(room.Load()) }, func(p *Pool[string, *thing], f *factory) {
		if p.Len() != 0 || len(f.tries()) != 0 {
			t.Errorf("without room it has %d", p.Len())
		}
		room.Store(1)
		pass(5 * time.Second)
		if p.Len() != 1 {
			t.Errorf("with room for one it has %d", p.Len())
		}
		room.Store(3)
		pass(5 * time.Second)
		if p.Len() != 2 {
			t.Errorf("with room for three it has %d", p.Len())
		}
		held, item, ok := p.Hold("a")
		if !ok {
			t.Fatal("there was none")
		}
		pass(5 * time.Second)
		room.Store(2)
		p.Look()
		pass(100 * time.Millisecond)
		if item.Alive() || p.Len() != 2 {
			t.Errorf("what is held does not give way first: %d", p.Len())
		}
		if _, ok := held.Claim(); ok {
			t.Error("it was given up")
		}
		held.Release()
		room.Store(0)
		pass(5 * time.Second)
		if p.Len() != 0 || f.open() != 0 {
			t.Errorf("without room it has %d, %d are open", p.Len(), f.open())
		}
	})
}

// What is held is handed over once, and is closed when it is not wanted, or too many are.
func TestHold(t *testing.T) {
	run(t, 2, []string{"a"}, always, func(p *Pool[string, *thing], f *factory) {
		var all []*Held[string, *thing]
		for range 3 {
			h, _, ok := p.Hold("a")
			if !ok {
				t.Fatal("there was none")
			}
			all = append(all, h)
			pass(5 * time.Second)
		}
		if p.Len() != 4 || f.open() != 4 {
			t.Errorf("it has %d, %d are open", p.Len(), f.open())
		}
		if _, ok := all[0].Claim(); ok {
			t.Error("the first was one too many")
		}
		item, ok := all[1].Claim()
		if _, again := all[1].Claim(); !ok || again || !item.Alive() {
			t.Errorf("%v, again %v, alive %v", ok, again, item.Alive())
		}
		all[1].Release()
		all[2].Release()
		all[2].Release()
		if !item.Alive() || f.open() != 3 || p.Len() != 2 {
			t.Errorf("the claimed one is alive: %v; %d are open", item.Alive(), f.open())
		}
		var none *Held[string, *thing]
		if _, ok := none.Claim(); ok {
			t.Error("nothing was claimed")
		}
		none.Release()
		item.Close()
	})
}

// Many take at once while the pool is filled and ended: each thing has one taker, and nothing
// stays open.
func TestManyTake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &factory{}
		p := New(Options[string, *thing]{Size: 4, First: []string{"a", "b"}, Start: f.start})
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		var all sync.WaitGroup
		all.Go(func() { p.Fill(ctx, always) })
		var mu sync.Mutex
		taken := map[*thing]bool{}
		for i := range 16 {
			all.Go(func() {
				for ctx.Err() == nil {
					var item *thing
					var ok bool
					if i%2 == 0 {
						item, ok = p.Take(string("ab"[i/2%2]))
					} else if h, _, held := p.Hold("a"); held {
						item, ok = h.Claim()
					}
					if ok {
						mu.Lock()
						if taken[item] {
							t.Error("one was handed over twice")
						}
						taken[item] = true
						mu.Unlock()
						item.Close()
					}
					time.Sleep(time.Millisecond)
				}
			})
		}
		all.Wait()
		if f.open() != 0 || len(taken) == 0 {
			t.Errorf("%d stay open, %d were taken", f.open(), len(taken))
		}
	})
}
