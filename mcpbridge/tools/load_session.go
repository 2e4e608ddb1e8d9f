package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
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
		{Name: "overwrite", Kind: args.Flag, Doc: "Take back later values and definitions, too."},
		hidden(timeoutParam(loadTimeout, untilStopped)),
	},
	Example: `{"file": "session.lisp"}`,
	Effect:  Effect{Destructive: true, OpenWorld: true, Idempotent: true, InTurn: always},
	run:     loadSession,
}

func loadSession(ctx context.Context, r *Request) (Reply, error) {
	file, overwrite, in := r.Text("file"), r.Flag("overwrite"), r.sessionRequest()
	var path string
	var src lisp.SessionSource
	var err error
	if !r.Has("file") {
		path, src, err = r.leftSource()
	} else {
		path, src, err = r.savedSource(file)
	}
	if err != nil {
		return Reply{}, err
	}
	if strings.TrimSpace(src.Text) == "" {
		return Reply{Text: "The file is empty; nothing was loaded."}, nil
	}
	if overwrite {
		src.Written = time.Time{}
	}
	var loaded *lisp.Loaded
	var res *lisp.Result
	if r.Has("file") {
		loaded, res, err = r.Session.LoadSession(ctx, src, in)
	} else {
		loaded, res, _, err = r.Session.BringBack(ctx, src, in)
	}
	switch {
	case err != nil:
		return Reply{}, err
	case res.Failure != nil && res.Failure.Type == lisp.LaterInSession:
		text, _ := render.Result(res, render.View{})
		return Reply{Text: text + "\n\n" + r.With("overwrite", json.RawMessage("true")), Failed: true, Failure: res.Failure}, nil
	case res.Failure == nil && loaded.Forms == 0:
		res.Notes = append(res.Notes, "The session has all that is in "+path+" already; nothing was loaded.")
		var p render.Parts
		p.Context(res)
		return Reply{Text: strings.TrimSpace(p.String())}, nil
	}
	if note := r.laterOnDisk(src.Text); res.Failure == nil && note != "" {
		res.Notes = append(res.Notes, note)
	}
	return sessionLoaded(path, in.Timeout, loaded, res), nil
}

// savedSource returns the source in a file of the session directory, and its path.
func (r *Request) savedSource(file string) (path string, src lisp.SessionSource, err error) {
	dir, name, err := r.sessionFile(file)
	if err != nil {
		return "", src, err
	}
	defer dir.close()
	text, written, err := dir.read(name)
	if err != nil {
		dir.refuse(r, file, err)
		if errors.Is(err, fs.ErrNotExist) {
			r.Err.Advice = dir.nextLoad(name)
		}
		return "", src, r.Err
	}
	return filepath.Join(dir.path, name), lisp.SessionSource{File: filepath.Base(name), Text: text, Written: written}, nil
}

// leftSource returns the source that the server before has left, and its path.
func (r *Request) leftSource() (path string, src lisp.SessionSource, err error) {
	left := r.Kept.Left()
	if left.Path == "" {
		dir, name, err := r.sessionFile("session.lisp")
		if err != nil {
			return "", src, err
		}
		defer dir.close()
		r.Fail("file is missing, and no server before this one has left a session here.")
		r.Err.Advice = dir.nextLoad(name)
		return "", src, r.Err
	}
	text, err := r.Kept.Read()
	return left.Path, lisp.SessionSource{File: filepath.Base(left.Path), Text: text, Written: left.Time}, err
}

// keptNotes says what could be loaded, and why the session is not kept if it is not. If the
// image that comes next goes on from a checkpoint, it is not known yet what it lacks.
func (r *Request) keptNotes(resumes bool) (notes []string) {
	if left := r.Kept.Left(); left.Path != "" && !left.Back && !resumes {
		what := "brings it back"
		if left.Part {
			what = "brings back what the session lacks of it"
		}
		note := fmt.Sprintf("The server that worked here before has left a session, %s ago: %s. load-session {} %s.",
			render.Age(time.Since(left.Time)), left.Summary, what)
		if text, err := r.Kept.Read(); err == nil {
			if later := r.laterOnDisk(text); later != "" {
				note += " " + later
			}
		}
		notes = append(notes, note)
	}
	if problem := r.Kept.Problem(); problem != "" {
		notes = append(notes, "What the session defines is not kept for the next server: "+problem+".")
	}
	return notes
}

// laterOnDisk says which variables that source defines have later values in the newest
// checkpoint on the disk; "" if none is known, or if the image goes on from that.
func (r *Request) laterOnDisk(source string) string {
	for _, c := range r.Session.CheckpointsOnDisk() {
		if c.Saving || c.Foreign {
			continue
		}
		if c.From {
			return ""
		}
		source = strings.ToUpper(source)
		later := slices.DeleteFunc(slices.Clone(c.Later), func(name string) bool {
			return !strings.Contains(source, strings.ToUpper(name[strings.LastIndexByte(name, ':')+1:]))
		})
		if len(later) == 0 {
			return ""
		}
		return fmt.Sprintf("That has first values only. Checkpoint %s on the disk, of %s, has later ones of %s: swank-mcp serve --resume %[1]s goes on from it.",
			c.Name, c.Time.Local().Format("2006-01-02 15:04:05"), strings.Join(later, ", "))
	}
	return ""
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
