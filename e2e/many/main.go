// Command many is the client of scripts/swarm-test: it uses many sessions of a server over
// HTTP at once, while its replicas are killed or replaced, and checks that every definition
// that was acknowledged is there afterwards.
//
//	many -url https://localhost:7843 -tokens FILE -ca FILE -sessions 60 -for 60s \
//	     -kill swank_http -every 20s
//	many ... -update swank-mcp-http:next -service swank_http
//
//	many -binary bin/swank-mcp -sessions 1000 -active 200 -for 10m
//	many -binary bin/swank-mcp -sessions 200 -fair 3
//
// With -kill it kills one container of that service after the other, by Docker. With -update
// it has Docker give the service another image, and then no call may fail. With -binary it
// starts a server of its own, measures what sessions take, has some of them work, and has all
// put away and woken. With -fair, several principals wake their sessions, of which one floods.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"sync"
	"time"
)

type options struct {
	url, tokens, ca string
	sessions        int
	length, every   time.Duration
	takeover        time.Duration
	kill, service   string
	update          string
	binary          string
	active          int
	fair            int
}

func main() {
	var o options
	flag.StringVar(&o.url, "url", "https://localhost:7843", "of the proxy")
	flag.StringVar(&o.tokens, "tokens", "", "file of tokens; the first is used")
	flag.StringVar(&o.ca, "ca", "", "certificate of the proxy")
	flag.IntVar(&o.sessions, "sessions", 60, "how many")
	flag.DurationVar(&o.length, "for", time.Minute, "how long they work")
	flag.DurationVar(&o.every, "every", 20*time.Second, "how often a replica is killed")
	flag.DurationVar(&o.takeover, "takeover", 3*time.Second, "how long after a kill a session may be without an answer")
	flag.StringVar(&o.kill, "kill", "", "the service whose containers are killed")
	flag.StringVar(&o.service, "service", "", "the service that gets another image")
	flag.StringVar(&o.update, "update", "", "that image")
	flag.StringVar(&o.binary, "binary", "", "a swank-mcp that is started for this")
	flag.IntVar(&o.active, "active", 200, "with -binary: how many work, if there are so many")
	flag.IntVar(&o.fair, "fair", 0, "with -binary: of so many principals the first wakes all its sessions at once, and the others are measured")
	flag.Parse()
	do := run
	switch {
	case o.binary != "" && o.fair > 1:
		do = runFair
	case o.binary != "":
		do = runLocal
	}
	if err := do(o); err != nil {
		fmt.Fprintln(os.Stderr, "many:", err)
		os.Exit(1)
	}
}

func run(o options) error {
	c, err := newClient(o)
	if err != nil {
		return err
	}
	began := time.Now()
	all := make([]*session, o.sessions)
	for i := range all {
		all[i] = newSession(c, i)
	}
	first, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if err := each(all, beginners, func(s *session) error { return s.begin(first) }); err != nil {
		return err
	}
	fmt.Printf("%d sessions have begun in %.1f s\n", len(all), time.Since(began).Seconds())

	limit := o.length
	if o.update != "" {
		limit = updateLimit
	}
	ctx, stop := context.WithTimeout(context.Background(), limit)
	defer stop()
	var working sync.WaitGroup
	for _, s := range all {
		working.Go(func() { s.work(ctx) })
	}
	var kills []time.Time
	var failed error
	switch {
	case o.kill != "":
		kills, failed = killing(ctx, o)
	case o.update != "":
		failed = update(ctx, o)
		stop()
	default:
		<-ctx.Done()
	}
	working.Wait()
	if failed != nil {
		return failed
	}
	last, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := each(all, len(all), func(s *session) error { return s.check(last) }); err != nil {
		return err
	}
	return report(o, all, kills)
}

// beginners is how many sessions begin at once: each starts a Lisp.
const beginners = 8

// each does the same for all sessions, so many at once, and returns the first error.
func each(all []*session, atOnce int, do func(*session) error) error {
	errs, places := make(chan error, len(all)), make(chan struct{}, atOnce)
	for _, s := range all {
		go func() {
			places <- struct{}{}
			errs <- do(s)
			<-places
		}()
	}
	var first error
	for range all {
		if err := <-errs; err != nil && first == nil {
			first = err
		}
	}
	return first
}
