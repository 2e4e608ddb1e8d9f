package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// mostUnfair bounds the ratio of two p99s of waking a session: beside a principal that wakes all of its
// sessions at once, and without it.
const mostUnfair = 3.0

// woken counts the sessions of each principal that does not flood.
const woken = 20

// fairRounds counts the rounds of a trial: of fewer than 100 times, the 99th percentile is the longest one.
const fairRounds = 5

// fairIdle is the idle time after which images are put away.
const fairIdle = 3 * time.Second

// floodTime limits a call of the flood, whose waiting is not judged.
const floodTime = 20 * time.Minute

// runFair has principals wake their sessions, all of which sleep: all but the first one after the
// other, without the first and beside it, which wakes all of its sessions at once.
func runFair(o options) (err error) {
	dir, err := os.MkdirTemp("", "many-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	state := (&local{dir: dir}).state()
	if err := os.MkdirAll(state, 0o700); err != nil {
		return err
	}
	var tokens strings.Builder
	for i := range o.fair {
		fmt.Fprintf(&tokens, "principal%d %s\n", i, token(i))
	}
	if err := os.WriteFile(filepath.Join(state, "tokens"), []byte(tokens.String()), 0o600); err != nil {
		return err
	}
	most := strconv.Itoa(o.sessions + woken*o.fair)
	l, err := startLocal(o, dir, "--max-sessions", most, "--max-sessions-each", most, "--max-images", most,
		"--max-rate", "1000000", "--hibernate-after", strconv.Itoa(int(fairIdle.Seconds())), "--log-level", "warn")
	if err != nil {
		return err
	}
	defer func() {
		l.stop()
		if text := l.log.String(); err != nil {
			fmt.Printf("its log ends:\n%s", text[max(0, len(text)-3000):])
		}
	}()
	o.url, o.tokens = l.url, l.tokens()
	first, err := newClient(o)
	if err != nil {
		return err
	}
	first.patience = floodTime
	if err := l.await(first, "swank_mcp_images_ahead", 2, startTime); err != nil { // with a core, which the first start builds
		return err
	}
	t := fairTrial{l: l, c: first, flood: sessionsOf(first, 0, o.sessions)}
	for i := 1; i < o.fair; i++ {
		c := &client{url: first.url, token: token(i), http: first.http, patience: callTime}
		t.others = append(t.others, sessionsOf(c, i*o.sessions, woken))
	}
	return t.run(o)
}

// token returns the token of principal number i.
func token(i int) string { return fmt.Sprintf("%043d", i) }

func sessionsOf(c *client, from, n int) (all []*session) {
	for i := range n {
		all = append(all, newSession(c, from+i))
	}
	return all
}

// fairTrial is one run with a server.
type fairTrial struct {
	l      *local
	c      *client
	flood  []*session
	others [][]*session // of each other principal
}

func (t *fairTrial) run(o options) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Minute)
	defer cancel()
	all := t.flood
	for _, sessions := range t.others {
		all = append(all[:len(all):len(all)], sessions...)
	}
	if err := each(all, localBeginners, func(s *session) error { return s.begin(ctx) }); err != nil {
		return err
	}
	var alone, beside []time.Duration
	for range fairRounds {
		for _, flooded := range []bool{false, true} {
			took, err := t.wake(ctx, flooded)
			if err != nil {
				return err
			}
			if flooded {
				beside = append(beside, took...)
			} else {
				alone = append(alone, took...)
			}
		}
	}
	ratio := at(beside, 99) / at(alone, 99)
	fmt.Printf("%d principals; %d sessions of each but the first were woken one after the other, %d times:\n"+
		"without the first      p50 %.3f s, p99 %.3f s\n"+
		"beside its %4d at once p50 %.3f s, p99 %.3f s\n"+
		"ratio                  p50 %.2f,   p99 %.2f (at most %.1f)\n",
		o.fair, woken, fairRounds, at(alone, 50), at(alone, 99), len(t.flood), at(beside, 50), at(beside, 99), at(beside, 50)/at(alone, 50), ratio, mostUnfair)
	if ratio > mostUnfair {
		return fmt.Errorf("not as it is wanted: who does not flood waits %.2f times as long by p99", ratio)
	}
	return nil
}

// wake has the others wake their sessions when all images are put away, beside the flood or
// without it, and returns how long each took.
func (t *fairTrial) wake(ctx context.Context, flooded bool) (took []time.Duration, err error) {
	if err := t.l.await(t.c, "swank_mcp_images", 0, startTime); err != nil {
		return nil, err
	}
	var working sync.WaitGroup
	errs := make(chan error, 1+len(t.others))
	if flooded {
		over := make(chan struct{})
		working.Go(func() {
			defer close(over)
			errs <- each(t.flood, len(t.flood), func(s *session) error { return s.check(ctx) })
		})
		if err := t.begun(over); err != nil {
			return nil, err
		}
	}
	for _, sessions := range t.others {
		working.Go(func() { errs <- each(sessions, 1, func(s *session) error { return s.check(ctx) }) })
	}
	working.Wait()
	close(errs)
	for e := range errs {
		err = errors.Join(err, e)
	}
	for _, sessions := range t.others {
		for _, s := range sessions {
			took = append(took, s.took[len(s.took)-1])
		}
	}
	return took, err
}

// begun waits until some image of the flood runs, or the flood is over.
func (t *fairTrial) begun(over <-chan struct{}) error {
	const between = 10 * time.Millisecond // of two looks
	for {
		if n, err := t.l.metric(t.c, "swank_mcp_images"); err != nil || n > 0 {
			return err
		}
		select {
		case <-over:
			return nil
		case <-time.After(between):
		}
	}
}
