package main

import (
	"context"
	"fmt"
)

// pause has the calls of agents wait that would evaluate, or, with on false, lets them go on.
func (c *command) pause(ctx context.Context, on bool) error {
	name := "resume"
	if on {
		name = "pause"
	}
	r, err := c.server(ctx, name)
	if err != nil {
		return err
	}
	a, err := r.Pause(ctx, on)
	if err != nil || c.json {
		return c.printed(a, err)
	}
	if a.Paused {
		fmt.Fprintf(c.stdout, "Calls that would evaluate wait now. What runs goes on. Next: swank-mcp resume %s\n", r.ID)
	} else {
		fmt.Fprintln(c.stdout, "Calls go on.")
	}
	return nil
}
