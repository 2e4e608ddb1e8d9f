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
	set:   inCore,
	doc: "Bring a session back from a file that save-session wrote, or without a file what the server before this one has left, form by form. " +
		"Forms that fail are reported with line and error, and the others evaluated all the same.",
	params: func(o limits) []param {
		return []param{
			{name: "file", kind: kindText, aliases: []alias{{name: "path"}, {name: "filename"}},
				doc: "Name of the file, in the server's session directory. Default: what session-status says was left."},
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
	run:         loadSession,
}

func loadSession(ctx context.Context, r *request) (reply, error) {
	file := r.text("file")
	timeout := max(time.Duration(r.number("timeout")*float64(time.Second)), time.Millisecond)
	if r.err != nil {
		return reply{}, r.err
	}
	var path, source string
	var err error
	if !r.has("file") {
		path, source, err = r.leftSource()
	} else {
		path, source, err = r.savedSource(file)
	}
	if err != nil {
		return reply{}, err
	}
	if strings.TrimSpace(source) == "" {
		return reply{text: "The file is empty; nothing was loaded."}, nil
	}
	loaded, res, err := r.image.LoadSession(ctx, r.session, filepath.Base(path), source, lisp.Request{
		Timeout: timeout, Progress: r.progress, Queued: r.admit,
	})
	if err != nil {
		return reply{}, err
	}
	return sessionLoaded(path, timeout, loaded, res), nil
}

// savedSource is the source in a file of the session directory, and its path.
func (r *request) savedSource(file string) (path, source string, err error) {
	dir, name, err := r.sessionFile(file)
	if err != nil {
		return "", "", err
	}
	defer dir.close()
	source, err = dir.read(name)
	if err != nil {
		dir.refuse(r, file, err)
		if errors.Is(err, fs.ErrNotExist) {
			r.err.advice = dir.nextLoad(name)
		}
		return "", "", r.err
	}
	return filepath.Join(dir.path, name), source, nil
}

// leftSource is the source that the server before has left, and its path.
func (r *request) leftSource() (path, source string, err error) {
	left := r.kept.Left()
	if left.Path == "" {
		dir, name, err := r.sessionFile("session.lisp")
		if err != nil {
			return "", "", err
		}
		defer dir.close()
		r.fail("file is missing, and no server before this one has left a session here.")
		r.err.advice = dir.nextLoad(name)
		return "", "", r.err
	}
	source, err = r.kept.Read()
	return left.Path, source, err
}

// keptNotes says what could be loaded, and why nothing is kept if that is so.
func (r *request) keptNotes() (notes []string) {
	if left := r.kept.Left(); left.Path != "" {
		notes = append(notes, fmt.Sprintf("The server that worked here before has left a session, %s ago: %s. load-session {} brings it back.",
			age(time.Since(left.Time)), left.Summary))
	}
	if problem := r.kept.Problem(); problem != "" {
		notes = append(notes, "What the session defines is not kept for the next server: "+problem+".")
	}
	return notes
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
		p.WriteString("\n" + failedForms(path, loaded))
	} else {
		p.WriteString(sanitize("Loaded: " + path + "\n" + plural(loaded.Forms, "form")))
	}
	p.WriteString("\nCurrent package: " + sanitize(res.Package))
	p.section("stdout", res.Stdout)
	p.section("stderr", res.Stderr)
	p.warnings(res.Warnings)
	p.section("background output", res.Background)
	p.remarks(res, View{})
	return reply{text: p.String(), failed: failed}
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
