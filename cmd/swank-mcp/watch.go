package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

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
	err = r.Follow(ctx, watchFrom, func(entry []byte) error {
		if c.json {
			_, err := fmt.Fprintf(c.stdout, "%s\n", entry)
			return err
		}
		var e transcript.Entry
		if err := json.Unmarshal(entry, &e); err != nil {
			return fmt.Errorf("what server %s sends is not understood: %w", r.ID, err)
		}
		return show.entry(&e)
	})
	if errors.Is(err, context.Canceled) {
		return nil
	}
	if err == nil && !c.json {
		fmt.Fprintln(c.stdout, show.paint.in(faint, "; the server has ended"))
	}
	return err
}
