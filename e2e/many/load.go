package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

// What is wanted of many sessions.
const (
	mostMemory = 16.0                   // MiB of each session
	mostCold   = 100 * time.Millisecond // the first evaluation, p50
	mostPool   = 20 * time.Millisecond  // the same with an image that was started ahead
	mostLate   = 5 * time.Second        // any reply
)

// measured is how many sessions begin one after the other, to be measured.
const measured = 20

// localBeginners is how many of the others begin at once.
const localBeginners = 4

// spare is how long it may take that no session works, until their images are put away.
const spare = 90 * time.Second

// runLocal has sessions of a server that it starts begin, work, be put away and woken.
func runLocal(o options) (err error) {
	dir, err := os.MkdirTemp("", "many-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	n, hibernate := o.sessions, o.length+spare
	l, err := startLocal(o, dir, "--max-sessions", strconv.Itoa(2*n), "--max-sessions-each", strconv.Itoa(2*n), "--max-images", strconv.Itoa(2*n),
		"--max-rate", "1000000", "--hibernate-after", strconv.Itoa(int(hibernate.Seconds())), "--log-level", "warn")
	if err != nil {
		return err
	}
	defer func() {
		fmt.Printf("the server ended within %.1f s\n", l.stop().Seconds())
		if text := l.log.String(); err != nil {
			fmt.Printf("its log ends:\n%s", text[max(0, len(text)-3000):])
		}
	}()
	o.url, o.tokens = l.url, l.tokens()
	c, err := newClient(o)
	if err != nil {
		return err
	}
	if err := l.await(c, "swank_mcp_images_ahead", 2, startTime); err != nil {
		return err
	}
	all := make([]*session, n)
	for i := range all {
		all[i] = newSession(c, i)
	}
	t := trial{o: o, l: l, c: c, all: all}
	for _, step := range []func() error{t.begin, t.work, t.sleep, t.wake} {
		if err := step(); err != nil {
			return err
		}
	}
	return errors.Join(t.failed...)
}

// trial is one run with a server.
type trial struct {
	o      options
	l      *local
	c      *client
	all    []*session
	failed []error // what was not as it is wanted
}

func (t *trial) judge(good bool, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	fmt.Println(text)
	if !good {
		t.failed = append(t.failed, errors.New("not as it is wanted: "+text))
	}
}

// begin has all sessions begin, the last of them alone: some with an image that was started
// ahead, some whose directory is there already, so that they start one.
func (t *trial) begin() error {
	began := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
	defer cancel()
	alone := min(2*measured, len(t.all)/2)
	rest := t.all[:len(t.all)-alone]
	for _, s := range t.all[:len(t.all)-alone/2] {
		if err := os.MkdirAll(filepath.Join(t.l.state(), "sessions", "owner", "named", s.name), 0o700); err != nil {
			return err
		}
	}
	if err := each(rest, localBeginners, func(s *session) error { return s.begin(ctx) }); err != nil {
		return err
	}
	fmt.Printf("%d sessions began in %.1f s\n", len(rest), time.Since(began).Seconds())
	var cold, pool []time.Duration
	for i, s := range t.all[len(rest):] {
		if err := t.l.await(t.c, "swank_mcp_images_ahead", 2, startTime); err != nil {
			return err
		}
		if err := s.connect(ctx); err != nil {
			return err
		}
		began := time.Now()
		if err := s.begin(ctx); err != nil {
			return err
		}
		if i < alone/2 {
			cold = append(cold, time.Since(began))
		} else {
			pool = append(pool, time.Since(began))
		}
	}
	p := func(d []time.Duration) time.Duration { return time.Duration(at(d, 50) * float64(time.Second)) }
	t.judge(p(cold) <= mostCold, "first evaluation, cold: p50 %.1f ms, at most %.1f ms", 1000*at(cold, 50), 1000*at(cold, 100))
	t.judge(p(pool) <= mostPool, "first evaluation, from the pool: p50 %.1f ms, at most %.1f ms", 1000*at(pool, 50), 1000*at(pool, 100))
	return t.memory("after the first evaluation")
}

// memory says what each session takes.
func (t *trial) memory(when string) error {
	server, images, processes := t.l.memory()
	live, err := t.l.metric(t.c, "swank_mcp_images")
	if err != nil {
		return err
	}
	each := (server + images) / live
	t.judge(each <= mostMemory, "%s, %v images live in %d processes: %.1f MiB a session, of which the server has %.2f (%.0f MiB)",
		when, live, processes, each, server/live, server)
	return nil
}

// work has some sessions work at random, after all have been used once more: none is put away
// meanwhile.
func (t *trial) work() error {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
	defer cancel()
	if err := each(t.all, 2*localBeginners, func(s *session) error { return s.begin(ctx) }); err != nil {
		return err
	}
	length, stop := context.WithTimeout(context.Background(), t.o.length)
	defer stop()
	active := t.all[:min(t.o.active, len(t.all))]
	var working sync.WaitGroup
	for _, s := range active {
		working.Go(func() { s.work(length) })
	}
	working.Wait()
	var took []time.Duration
	for _, s := range active {
		took = append(took, s.took...)
		t.failed = append(t.failed, s.errs...)
		if len(s.again) > 0 || len(s.broken) > 0 {
			t.failed = append(t.failed, fmt.Errorf("%s was sent again: %v, broken off: %v", s.name, s.again, s.broken))
		}
	}
	t.judge(at(took, 100) <= mostLate.Seconds(), "%d sessions worked for %v: %d replies, p50 %.3f s, p99 %.3f s, at most %.3f s",
		len(active), t.o.length, len(took), at(took, 50), at(took, 99), at(took, 100))
	for _, s := range active {
		s.took, s.answers = nil, nil
	}
	return t.memory("after the work")
}

// sleep waits until all images are put away.
func (t *trial) sleep() error {
	began := time.Now()
	if err := t.l.await(t.c, "swank_mcp_images", 0, t.o.length+spare+5*time.Minute); err != nil {
		return err
	}
	server, _, processes := t.l.memory()
	fmt.Printf("all are put away %.0f s after the work; %d processes are left, the server has %.0f MiB\n", time.Since(began).Seconds(), processes, server)
	return nil
}

// wake has each session say what it has defined.
func (t *trial) wake() error {
	began := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
	defer cancel()
	if err := each(t.all, localBeginners, func(s *session) error { return s.check(ctx) }); err != nil {
		return err
	}
	var took []time.Duration
	for _, s := range t.all {
		took = append(took, s.took...)
	}
	fmt.Printf("all are awake after %.1f s with what they have defined: %d at once, p50 %.3f s, at most %.3f s\n",
		time.Since(began).Seconds(), localBeginners, at(took, 50), at(took, 100))
	return nil
}
