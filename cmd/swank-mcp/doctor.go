package main

import (
	"context"
	"fmt"
	"strings"

	"swank-mcp/swank/lisp"
)

// doctor prints what the image would be made of: one line per check, and for
// what is missing the problem and its remedy. It fails when no image can start.
func (c *command) doctor(ctx context.Context) error {
	if c.url != "" {
		return c.doctorRemote(ctx)
	}
	s, err := c.sandbox(c.projectDirs, "", nil)
	if err == nil && s != nil {
		c.lisp.Launch.Sandbox = s.Launch()
		err = s.Check(c.projectDirs())
	}
	r := lisp.Doctor(ctx, c.lisp)
	if s != nil {
		addSandbox(ctx, r, s)
	}
	if err != nil {
		r.AddError("sandbox", "", err)
	}
	width := 0
	for _, k := range r.Checks {
		width = max(width, len(k.Name))
	}
	indent := "\n" + strings.Repeat(" ", len("missing  ")+width+2)
	for _, k := range r.Checks {
		state, text := "ok", k.Found
		if k.Problem != "" {
			state, text = "warning", k.Problem
			if k.Found != "" {
				text = k.Found + "\n" + text
			}
			if k.Fatal {
				state = "missing"
			}
			if k.Advice != "" {
				text += "\n" + k.Advice
			}
		}
		fmt.Fprintf(c.stdout, "%-7s  %-*s  %s\n", state, width, k.Name, strings.ReplaceAll(text, "\n", indent))
	}
	if !r.OK() {
		fmt.Fprintln(c.stdout, "\nswank-mcp cannot work until what is missing is there.")
		return errReported
	}
	server := ""
	if attach := c.attachFlag(); attach != "" {
		server = " --" + attach
	}
	fmt.Fprintln(c.stdout, "\nswank-mcp can work. To register it: "+program()+" install --client claude-code"+server)
	return nil
}

// attachFlag is the flag with which a server attaches to what the doctor has looked
// at, as a shell reads it; "" if it launches its image.
func (c *command) attachFlag() string {
	switch t := c.lisp.Attach; {
	case t.Command != "":
		return " --attach-command '" + strings.ReplaceAll(t.Command, "'", `'\\''`) + "'"
	case !t.IsZero():
		return " --attach " + t.String()
	}
	return ""
}
