package tools

import (
	"context"
	"fmt"
	"strings"
	"time"

	"swank-mcp/mcpbridge/render"
	"swank-mcp/mcpbridge/spool"
	"swank-mcp/swank/lisp"
)

// Reload loads what was saved of the project's loaded systems since they were loaded,
// and calls tell with what a reply says of it, before the next job of the session begins:
// not if nothing has changed, or no image runs. What that leaves out is kept in the spool.
func Reload(ctx context.Context, s Session, kept *spool.Spool, progress func(time.Duration, string), tell func(text string)) {
	in := lisp.Request{Debug: 1, Timeout: loadTimeout, Progress: progress}
	told := false
	err := s.Reload(ctx, in, func(done *lisp.Reloaded, res *lisp.Result) {
		told = true
		if text := reloadText(done, res, in, kept); text != "" {
			tell(text)
		}
	})
	if err != nil && ctx.Err() == nil && !told {
		tell("; Files were saved, and could not be loaded: " + render.Safe(err.Error()))
	}
}

// reloadText is a line with the systems, and below it what came of loading them.
func reloadText(done *lisp.Reloaded, res *lisp.Result, in lisp.Request, kept *spool.Spool) string {
	res.Origin = ""
	boundWarnings(res, false, kept)
	if res.Failure != nil {
		return "; Files" + ofSystems(done) + " were saved; loading them failed:\n" + loadText("", in.Timeout, res).Text
	}
	if len(done.Systems) == 0 {
		return ""
	}
	var p render.Parts
	p.WriteString("; Files" + ofSystems(done) + " were saved, and have been loaded.")
	if n := len(done.Replaced); n > 0 {
		p.WriteString("\n; The session had defined otherwise, and the files have replaced: " +
			render.Safe(strings.Join(done.Replaced[:min(n, maxChanges)], ", ")))
		if n > maxChanges {
			p.WriteString(fmt.Sprintf(" and %d more", n-maxChanges))
		}
		p.WriteString(".")
	}
	last := "the last run"
	if done.Cut {
		last = "the last whole run"
	}
	switch n := len(done.Failing); {
	case n > 0:
		p.WriteString("\n; Failing now, and not in " + last + ": " + render.Safe(strings.Join(done.Failing[:min(n, maxChanges)], ", ")))
		if n > maxChanges {
			p.WriteString(fmt.Sprintf(" and %d more", n-maxChanges))
		}
		p.WriteString(".\n; " + nextCall("run-tests", "system", done.Tested))
	case done.Untested != "":
		p.WriteString("\n; The tests of " + render.Safe(done.Tested) + " " + done.Untested + ".\n; " + nextCall("run-tests", "system", done.Tested))
	case done.Tested != "":
		p.WriteString("\n; The tests of " + render.Safe(done.Tested) + " were run again: none fails that did not in " + last + ".")
	}
	res.Stdout, res.Stderr = lisp.Text{}, withoutCompilerNoise(res.Stderr)
	p.Context(res)
	return p.String()
}

// ofSystems names the systems that had changed, if they are known.
func ofSystems(done *lisp.Reloaded) string {
	if len(done.Systems) == 0 {
		return ""
	}
	return " of " + render.Safe(strings.Join(done.Systems, ", "))
}
