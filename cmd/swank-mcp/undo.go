package main

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// undo takes the image of a server back to before the last call that may have changed it.
// The agent is told.
func (c *command) undo(ctx context.Context) error {
	r, err := c.server(ctx, "undo")
	if err != nil {
		return err
	}
	a, err := r.Undo(ctx, c.session)
	if err != nil || c.json {
		return c.printed(a, err)
	}
	fmt.Fprintf(c.stdout, "Undone in %s: %s\nThe image is as it was at %s.\n", oneLine(a.Session), oneLine(strings.Join(a.Undone, "; ")), a.Time.Local().Format(time.TimeOnly))
	if a.Extra > 0 {
		fmt.Fprintf(c.stdout, "That is %d more than one: no checkpoint lies between.\n", a.Extra)
	}
	if a.NoRedo != "" {
		fmt.Fprintf(c.stdout, "It cannot be done again: %s.\n", oneLine(a.NoRedo))
	}
	return nil
}
