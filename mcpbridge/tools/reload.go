package tools

import (
	"context"
	"strings"

	"swank-mcp/mcpbridge/render"
	"swank-mcp/swank/lisp"
)

// Reload loads what was saved of the project's loaded systems since they were loaded,
// and returns what a reply says of it: "" if nothing has changed, or no image runs.
func Reload(ctx context.Context, s Session) string {
	in := lisp.Request{Debug: 1, Timeout: loadTimeout}
	done, res, err := s.Reload(ctx, in)
	switch {
	case err != nil && ctx.Err() != nil:
		return ""
	case err != nil:
		return "; Files were saved, and could not be loaded: " + render.Safe(err.Error())
	case done == nil:
		return ""
	}
	return reloadText(done, res, in)
}

// reloadText is a line with the systems, and below it what came of loading them.
func reloadText(done *lisp.Reloaded, res *lisp.Result, in lisp.Request) string {
	res.Origin = ""
	reply := loadText("", in.Timeout, res)
	if len(done.Systems) == 0 && !reply.Failed {
		return ""
	}
	of := "."
	if len(done.Systems) > 0 {
		of = " of " + render.Safe(strings.Join(done.Systems, ", ")) + "."
	}
	if reply.Failed {
		return "; Files were saved and loaded again" + of + " That failed:\n" + reply.Text
	}
	var p render.Parts
	p.WriteString("; Files were saved and loaded again" + of)
	p.Context(res)
	return p.String()
}
