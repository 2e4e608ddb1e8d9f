package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"text/tabwriter"
	"time"

	"swank-mcp/mcpbridge/render"
	"swank-mcp/serve/door"
	"swank-mcp/serve/hub"
)

// showSession prints what is known of the session PRINCIPAL/NAME, a line for each thing.
func (c *command) showSession(ctx context.Context, s *site, who []door.Credential, session string) error {
	body, err := s.askOf(ctx, who, "GET", session)
	if err != nil {
		return err
	}
	var d hub.Detail
	if err := json.Unmarshal(body, &d); err != nil {
		return fmt.Errorf("what answers at %s is no server of swank-mcp: %w", s.url, err)
	}
	w := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
	clock := func(t time.Time) string { return t.Local().Format(time.DateTime) }
	image := awake(d.Awake)
	if d.PID != 0 {
		image = fmt.Sprintf("running since %s, pid %d, %s MB of memory, %s of the processor",
			clock(d.Started), d.PID, render.Count(d.Memory>>20), render.Age(time.Duration(d.CPU*float64(time.Second))))
	}
	disk := megabytes(d.Disk)
	if d.DiskMore {
		disk = "more than " + disk
	}
	if d.DiskLimit > 0 {
		disk += ", of " + megabytes(d.DiskLimit)
	}
	hour := ""
	if d.HourLimit > 0 {
		hour = fmt.Sprintf("%.0f of %.0f seconds of the processor, until %s, with all other sessions of the principal", d.HourCPU, d.HourLimit, clock(d.HourEnds))
	}
	for _, line := range [][2]string{
		{"Session", session},
		{"Image", image},
		{"Begun", clock(d.Since)},
		{"Last used", clock(d.Used)},
		{"Clients", fmt.Sprintf("%d connected, %s in progress", d.Connections, render.Plural(d.Users, "request"))},
		{"Evaluated", render.Plural(int(d.Evaluations), "evaluation")},
		{"Defined", cmp.Or(d.Defined, "not known while it evaluates")},
		{"Disk", disk},
		{"This hour", hour},
		{"Owner", d.Owner},
	} {
		if line[1] != "" {
			fmt.Fprintf(w, "%s\t%s\n", line[0], render.Safe(line[1]))
		}
	}
	return w.Flush()
}

// megabytes is a size as people read it.
func megabytes(n int64) string {
	if n < 1<<20 {
		return render.Count((n+1023)>>10) + " kB"
	}
	return render.Count(n>>20) + " MB"
}
