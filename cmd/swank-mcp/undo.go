package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"swank-mcp/people/control"
)

// undo takes the image of a server back to before the last calls that may have changed it,
// forward again, or to a checkpoint. The agent is told.
func (c *command) undo(ctx context.Context) error {
	r, err := c.server(ctx, "undo")
	if err != nil {
		return err
	}
	var a *control.Undone
	switch {
	case c.to != "" && c.steps != 1:
		return fmt.Errorf("%w: --steps and --to are both given: --steps counts calls, --to names a checkpoint", errUsage)
	case c.steps == 0 || c.steps < -control.MaxSteps || c.steps > control.MaxSteps:
		return fmt.Errorf("%w: --steps is %d; valid: 1 to %d, and -1 to -%[3]d to do again what was undone", errUsage, c.steps, control.MaxSteps)
	case c.to != "":
		a, err = r.Restore(ctx, c.session, c.to)
	default:
		a, err = r.Undo(ctx, c.session, c.steps)
	}
	if err != nil || c.json {
		return c.printed(a, err)
	}
	what := "Undone"
	switch {
	case a.Forward:
		what = "Done again"
	case len(a.Undone) == 0:
		what = "Restored"
	}
	text := fmt.Sprintf("%s in %s", what, oneLine(a.Session))
	if len(a.Undone) > 0 {
		text += ": " + oneLine(strings.Join(a.Undone, "; "))
	}
	fmt.Fprintf(c.stdout, "%s\nThe image is as it was at %s.\n", text, a.Time.Local().Format(time.TimeOnly))
	if a.Extra > 0 {
		fmt.Fprintf(c.stdout, "That is %d more than asked for: no checkpoint lies between.\n", a.Extra)
	}
	if a.NoRedo != "" {
		fmt.Fprintf(c.stdout, "It cannot be done again: %s.\n", oneLine(a.NoRedo))
	}
	return nil
}
