package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// stop ends what a server evaluates. The agent reads that it was the person.
func (c *command) stop(ctx context.Context) error {
	r, err := c.server(ctx, "stop")
	if err != nil {
		return err
	}
	a, err := r.Stop(ctx)
	if err != nil || c.json {
		return c.printed(a, err)
	}
	if len(a.Stopped) == 0 {
		fmt.Fprintln(c.stdout, "Nothing runs.")
	}
	for _, s := range a.Stopped {
		fmt.Fprintf(c.stdout, "Stopped in %s after %s: %s\n", oneLine(s.Session), ageText(time.Duration(s.Seconds*float64(time.Second))), oneLine(s.Code))
	}
	return nil
}

// printed prints an answer as JSON, unless there is an error.
func (c *command) printed(answer any, err error) error {
	if err != nil {
		return err
	}
	enc := json.NewEncoder(c.stdout)
	enc.SetEscapeHTML(false)
	return enc.Encode(answer)
}
