package lisp

import (
	"context"

	"swank-mcp/swank/lisp/helper"
)

// Reloaded is what [Session.Reload] has found.
type Reloaded struct {
	Systems []string `sexp:"systems"` // of which files had changed; none: nothing was loaded
}

// Reload loads the loaded systems of the project again of which files were saved since,
// and those that depend on them. It starts no image: in a new one nothing is loaded.
// Reloaded is nil then. Result and error are those of [Session.Evaluate].
func (s *Session) Reload(ctx context.Context, r Request) (*Reloaded, *Result, error) {
	if inst, err := s.im.running(ctx); inst == nil {
		return nil, nil, err
	}
	s.im.lookAtProject(ctx)
	return reported[Reloaded](ctx, s, r, job{title: "loading what has changed", code: "(SWANK-MCP:RELOAD-CHANGED)",
		call: helper.NewCall("RELOAD-CHANGED")})
}
