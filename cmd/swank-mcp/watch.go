package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"syscall"

	"swank-mcp/people/control"
	"swank-mcp/people/transcript"
)

// watchFrom is with how many entries of before watch begins.
const watchFrom = 20

// watch follows what a server does, until that ends or ctx.
func (c *command) watch(ctx context.Context) error {
	r, err := c.server(ctx, "watch")
	if err != nil {
		return err
	}
	if c.web {
		return c.watchWeb(ctx, r)
	}
	show := &viewer{to: c.stdout, paint: colours(c.stdout)}
	if !c.json {
		fmt.Fprintln(c.stdout, show.paint.in(faint, fmt.Sprintf("; server %s, %s; Ctrl-C ends watching, not the server", r.ID, shortDirs(r.dirs()))))
	}
	var answers *answering
	if in, ok := c.stdin.(*os.File); ok && !c.json && isTerminal(in) && inForeground(in) {
		answers = &answering{r: r, to: c.stdout, paint: show.paint}
		go answers.read(ctx, in)
	}
	from := control.Place{Last: watchFrom}
	for {
		err := r.Follow(ctx, from, func(entry []byte) error {
			var e transcript.Entry
			if err := json.Unmarshal(entry, &e); err != nil {
				return fmt.Errorf("what server %s sends is not understood: %w", r.ID, err)
			}
			from.After = max(from.After, e.N)
			if c.json {
				_, err := fmt.Fprintf(c.stdout, "%s\n", entry)
				return err
			}
			err := show.entry(&e)
			if answers != nil && err == nil {
				answers.entry(&e)
			}
			return err
		})
		_, ended := r.Status(ctx)
		if errors.Is(ended, context.DeadlineExceeded) {
			ended = nil // it has only not answered yet
		}
		switch {
		case ctx.Err() != nil, errors.Is(err, syscall.EPIPE): // Ctrl-C, or whoever reads this has gone
			return nil
		case ended != nil && !c.json:
			fmt.Fprintln(c.stdout, show.paint.in(faint, "; the server has ended"))
			return nil
		case ended != nil:
			return nil
		case err != nil:
			return err
		} // else this terminal has stood still for long, and the server has given it up
	}
}
