package mcpbridge

import (
	"context"
	"strings"
)

var resetTool = tool{
	name:  "reset-session",
	title: "Reset session",
	set:   inCore,
	shown: true,
	doc: "Undo everything that this session has made: definitions, variables, packages, symbols, REPL variables, and the current package. " +
		"Loaded systems stay. It waits for an evaluation that is running.",
	params:      func(limits) []param { return nil },
	example:     `{}`,
	destructive: true,
	idempotent:  true,
	ordered:     true,
	run:         reset,
}

func reset(ctx context.Context, r *request) (reply, error) {
	done, err := r.image.ResetSession(ctx, r.session, r.limits.Timeout, r.admit)
	if err != nil {
		return reply{}, err
	}
	lines := []string{"Session reset. All definitions cleared.", "Current package: CL-USER"}
	for _, p := range done.Problems {
		lines = append(lines, "; Not undone: "+sanitize(p))
	}
	for _, left := range done.Left {
		lines = append(lines, "; "+sanitize(left))
	}
	return reply{text: strings.Join(lines, "\n")}, nil
}
