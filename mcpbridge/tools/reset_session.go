package tools

import (
	"context"
	"strings"

	"swank-mcp/mcpbridge/render"
)

var resetTool = Tool{
	Name:  "reset-session",
	Title: "Reset session",
	Set:   Core,
	Shown: true,
	Doc: "Undo everything that this session has made: definitions, variables, packages, symbols, REPL variables, and the current package. " +
		"Loaded systems stay. It waits for an evaluation that is running.",
	Example: `{}`,
	Effect:  Effect{Destructive: true, Idempotent: true, InTurn: always},
	run:     reset,
}

func reset(ctx context.Context, r *Request) (Reply, error) {
	done, err := r.Session.ResetSession(ctx, r.Limits.Timeout)
	if err != nil {
		return Reply{}, err
	}
	lines := []string{"Session reset. All definitions cleared.", "Current package: CL-USER"}
	for _, p := range done.Problems {
		lines = append(lines, "; Not undone: "+render.Safe(p))
	}
	for _, left := range done.Left {
		lines = append(lines, "; "+render.Safe(left))
	}
	return Reply{Text: strings.Join(lines, "\n")}, nil
}
