package mcpbridge

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"swank-mcp/swank/lisp"
)

var loadSessionTool = tool{
	name:  "load-session",
	title: "Load session",
	doc: "Bring a session back from a file that save-session wrote, form by form. " +
		"Forms that fail are reported with line and error, and the others evaluated all the same.",
	params: func(o *Options) []param {
		return []param{
			{name: "file", kind: kindText, required: true, aliases: []alias{{name: "path"}, {name: "filename"}},
				doc: "Name of the file, in the server's session directory."},
			{name: "timeout", kind: kindNumber, hidden: true, def: min(loadTimeout, o.MaxTimeout).Seconds(), min: 0, above: true, max: o.MaxTimeout.Seconds(),
				aliases: []alias{{name: "timeout_seconds"}, {name: "timeout_ms", scale: 1e-3}},
				doc:     "Seconds, more than 0, after which loading is stopped."},
		}
	},
	example:     `{"file": "session.lisp"}`,
	destructive: true,
	openWorld:   true,
	idempotent:  true,
	ordered:     true,
	run:         (*Bridge).loadSession,
}

func (b *Bridge) loadSession(ctx context.Context, r *request) (reply, error) {
	file := r.text("file")
	timeout := max(time.Duration(r.number("timeout")*float64(time.Second)), time.Millisecond)
	if r.err != nil {
		return reply{}, r.err
	}
	dir, name, err := b.sessionFile(r, file)
	if err != nil {
		return reply{}, err
	}
	defer dir.close()
	source, err := dir.read(name)
	if err != nil {
		dir.refuse(r, file, err)
		if errors.Is(err, fs.ErrNotExist) {
			r.err.advice = dir.nextLoad(name)
		}
		return reply{}, r.err
	}
	if strings.TrimSpace(source) == "" {
		return reply{text: "The file is empty; nothing was loaded."}, nil
	}
	loaded, res, err := b.o.Image.LoadSession(ctx, b.o.Session, name, source, lisp.Request{
		Timeout: timeout, Progress: progress(ctx, r.mcp), Queued: orderOf(ctx).admit,
	})
	if err != nil {
		return reply{}, err
	}
	return sessionLoaded(filepath.Join(dir.path, name), timeout, loaded, res), nil
}

// sessionLoaded is the text of load-session: how many forms, which failed, and
// what was printed.
func sessionLoaded(path string, timeout time.Duration, loaded *lisp.Loaded, res *lisp.Result) reply {
	if res.Failure != nil {
		if len(loaded.Failed) > 0 {
			res.Notes = append(res.Notes, "Before that: "+failedForms(path, loaded))
		}
		text, _ := ResultText(res, View{Timeout: timeout})
		return reply{text: text, failed: true}
	}
	var p parts
	failed := len(loaded.Failed) > 0
	if failed {
		p.headline("ERROR", "FORMS-FAILED")
		p.b.WriteString("\n" + failedForms(path, loaded))
	} else {
		p.b.WriteString(sanitize("Loaded: " + path + "\n" + plural(loaded.Forms, "form")))
	}
	p.b.WriteString("\nCurrent package: " + sanitize(res.Package))
	p.section("stdout", res.Stdout)
	p.section("stderr", res.Stderr)
	p.warnings(res.Warnings)
	p.section("background output", res.Background)
	p.remarks(res, View{})
	return reply{text: p.b.String(), failed: failed}
}

// maxFailedForms is how many failed forms are shown.
const maxFailedForms = 20

func failedForms(path string, l *lisp.Loaded) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %s in %s failed; the others were evaluated.", len(l.Failed), plural(l.Forms, "form"), sanitize(path))
	for i, f := range l.Failed {
		if i == maxFailedForms {
			fmt.Fprintf(&b, "\n; … %d more", len(l.Failed)-i)
			break
		}
		fmt.Fprintf(&b, "\nLine %d: %s\n  %s", f.Line, sanitize(f.Form), sanitize(strings.ReplaceAll(f.Why, "\n", "\n  ")))
	}
	return b.String()
}
