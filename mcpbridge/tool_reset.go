package mcpbridge

import (
	"context"
	"strings"
)

var resetTool = tool{
	name:  "reset-session",
	title: "Reset session",
	doc: "Undo everything that this session has made: definitions, variables, packages, symbols, REPL variables, and the current package. " +
		"Loaded systems stay. It waits for an evaluation that is running.",
	params:      func(*Options) []param { return nil },
	example:     `{}`,
	destructive: true,
	idempotent:  true,
	ordered:     true,
	run:         (*Bridge).reset,
}

func (b *Bridge) reset(ctx context.Context, _ *request) (reply, error) {
	r, err := b.o.Image.ResetSession(ctx, b.o.Session, b.o.Timeout, orderOf(ctx).admit)
	if err != nil {
		return reply{}, err
	}
	lines := []string{"Session reset. All definitions cleared.", "Current package: CL-USER"}
	for _, p := range r.Problems {
		lines = append(lines, "; Not undone: "+sanitize(p))
	}
	for _, left := range r.Left {
		lines = append(lines, "; "+sanitize(left))
	}
	return reply{text: strings.Join(lines, "\n")}, nil
}
