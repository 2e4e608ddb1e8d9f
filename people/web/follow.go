package web

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"swank-mcp/people/control"
	"swank-mcp/people/transcript"
)

// fromBefore is with how many entries of before the notebook begins.
const fromBefore = 20_000

// again is how long a server that has gone is looked for before that is tried once more.
const again = 500 * time.Millisecond

// follow writes the notebook until ctx ends. When the server ends, it waits for one that
// takes its place.
func (s *Server) follow(ctx context.Context) {
	client, status := s.o.Client, s.o.Status
	for ctx.Err() == nil {
		s.mu.Lock()
		s.client = client
		s.mu.Unlock()
		s.side.set(status)
		from := control.Place{Last: fromBefore, After: s.book.begin(client.ID + " " + status.Started.String())}
		_ = client.Follow(ctx, from, func(entry []byte) error {
			var e transcript.Entry
			if err := json.Unmarshal(entry, &e); err != nil {
				return err
			}
			s.book.add(e)
			s.side.add(&e)
			return nil
		})
		if ctx.Err() != nil {
			return
		}
		st, err := client.Status(ctx)
		if err == nil { // it has given us up; it goes on
			status = st
			continue
		}
		if errors.Is(err, context.DeadlineExceeded) { // it is there, and late
			continue
		}
		s.book.lose()
		s.side.gone()
		client, status = s.wait(ctx)
	}
}

// wait waits for a server that takes the place of the one that has gone.
func (s *Server) wait(ctx context.Context) (*control.Client, *control.Status) {
	tick := time.NewTicker(again)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil, nil
		case <-tick.C:
		}
		if c, st := s.o.Find(ctx); c != nil && st != nil {
			return c, st
		}
	}
}

// often is how often the server is asked for its status while somebody looks.
const often = time.Second

// ask asks the server for its status while somebody looks, until ctx ends.
func (s *Server) ask(ctx context.Context) {
	tick := time.NewTicker(often)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-s.side.wanted:
			time.Sleep(30 * time.Millisecond) // more may come of it
		}
		if s.side.watched() {
			s.look(ctx)
		}
	}
}

// look asks for the status, and for what each session has made if that may have changed.
func (s *Server) look(ctx context.Context) {
	client := s.server()
	st, err := client.Status(ctx)
	if err != nil {
		return
	}
	s.side.set(st)
	waits := map[[2]string]bool{}
	for _, one := range st.Sessions {
		for _, e := range one.Suspended {
			waits[[2]string{one.Name, strconv.Itoa(e.Number)}] = true
		}
	}
	s.book.suspended(waits)
	for _, name := range s.side.older(st) {
		if c, err := client.Contents(ctx, name); err == nil {
			s.side.made(c)
		}
	}
}
