package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"swank-mcp/mcpbridge/args"
	"swank-mcp/mcpbridge/render"
	"swank-mcp/swank/lisp"
)

var loadSessionTool = Tool{
	Name:  "load-session",
	Title: "Load session",
	Set:   Core,
	Doc: "Bring a session back, form by form, from a file that save-session wrote or, without a file, from what the server before this one has left. " +
		"Forms that fail are reported with line and error, and the others evaluated all the same.",
	Params: []args.Param{
		{Name: "file", Kind: args.Text, Aliases: []args.Alias{{Name: "path"}, {Name: "filename"}},
			Doc: "Name of the file, in the server's session directory. Default: what session-status says was left."},
		hidden(timeoutParam(loadTimeout, untilStopped)),
	},
	Example: `{"file": "session.lisp"}`,
	Effect:  Effect{Destructive: true, OpenWorld: true, Idempotent: true, InTurn: always},
	run:     loadSession,
}

func loadSession(ctx context.Context, r *Request) (Reply, error) {
	file, in := r.Text("file"), r.sessionRequest()
	var path, source string
	var err error
	if !r.Has("file") {
		path, source, err = r.leftSource()
	} else {
		path, source, err = r.savedSource(file)
	}
	if err != nil {
		return Reply{}, err
	}
	if strings.TrimSpace(source) == "" {
		return Reply{Text: "The file is empty; nothing was loaded."}, nil
	}
	loaded, res, err := r.Session.LoadSession(ctx, filepath.Base(path), source, in)
	if err != nil {
		return Reply{}, err
	}
	return sessionLoaded(path, in.Timeout, loaded, res), nil
}

// savedSource is the source in a file of the session directory, and its path.
func (r *Request) savedSource(file string) (path, source string, err error) {
	dir, name, err := r.sessionFile(file)
	if err != nil {
		return "", "", err
	}
	defer dir.close()
	source, err = dir.read(name)
	if err != nil {
		dir.refuse(r, file, err)
		if errors.Is(err, fs.ErrNotExist) {
			r.Err.Advice = dir.nextLoad(name)
		}
		return "", "", r.Err
	}
	return filepath.Join(dir.path, name), source, nil
}

// leftSource is the source that the server before has left, and its path.
func (r *Request) leftSource() (path, source string, err error) {
	left := r.Kept.Left()
	if left.Path == "" {
		dir, name, err := r.sessionFile("session.lisp")
		if err != nil {
			return "", "", err
		}
		defer dir.close()
		r.Fail("file is missing, and no server before this one has left a session here.")
		r.Err.Advice = dir.nextLoad(name)
		return "", "", r.Err
	}
	source, err = r.Kept.Read()
	return left.Path, source, err
}

// keptNotes says what could be loaded, and why the session is not kept if it is not.
func (r *Request) keptNotes() (notes []string) {
	if left := r.Kept.Left(); left.Path != "" {
		notes = append(notes, fmt.Sprintf("The server that worked here before has left a session, %s ago: %s. load-session {} brings it back.",
			render.Age(time.Since(left.Time)), left.Summary))
	}
	if problem := r.Kept.Problem(); problem != "" {
		notes = append(notes, "What the session defines is not kept for the next server: "+problem+".")
	}
	return notes
}

// sessionLoaded is the text of load-session: how many forms, which failed, and
// what was printed.
func sessionLoaded(path string, timeout time.Duration, loaded *lisp.Loaded, res *lisp.Result) Reply {
	if res.Failure != nil {
		if len(loaded.Failed) > 0 {
			res.Notes = append(res.Notes, "Before that: "+failedForms(path, loaded))
		}
		text, _ := render.Result(res, render.View{Timeout: timeout})
		return Reply{Text: text, Failed: true}
	}
	var p render.Parts
	failed := len(loaded.Failed) > 0
	if failed {
		p.Headline("ERROR", "FORMS-FAILED")
		p.WriteString("\n" + failedForms(path, loaded))
	} else {
		p.WriteString(render.Safe("Loaded: " + path + "\n" + render.Plural(loaded.Forms, "form")))
	}
	p.WriteString("\nCurrent package: " + render.Safe(res.Package))
	p.Context(res)
	return Reply{Text: p.String(), Failed: failed}
}

// maxFailedForms is how many failed forms are shown.
const maxFailedForms = 20

func failedForms(path string, l *lisp.Loaded) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %s in %s failed; the others were evaluated.", len(l.Failed), render.Plural(l.Forms, "form"), render.Safe(path))
	for i, f := range l.Failed {
		if i == maxFailedForms {
			fmt.Fprintf(&b, "\n; … %d more", len(l.Failed)-i)
			break
		}
		fmt.Fprintf(&b, "\nLine %d: %s\n  %s", f.Line, render.Safe(f.Form), render.Safe(strings.ReplaceAll(f.Why, "\n", "\n  ")))
	}
	return b.String()
}
