package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"swank-mcp/mcpbridge/args"
	"swank-mcp/mcpbridge/rawtext"
	"swank-mcp/mcpbridge/render"
	"swank-mcp/swank/lisp"
)

var saveSessionTool = Tool{
	Name:  "save-session",
	Title: "Save session",
	Set:   Core,
	Doc: "Write what this session has defined to a .lisp file, which load-session or sbcl --load brings back: " +
		"definitions, packages, declarations, systems; not later values.",
	Params: []args.Param{
		{Name: "file", Kind: args.Text, Required: true, Aliases: []args.Alias{{Name: "path"}, {Name: "filename"}},
			Doc: "Name of the file, in the server's session directory."},
		{Name: "overwrite", Kind: args.Flag, Doc: "Replace an existing file."},
	},
	Example: `{"file": "session.lisp"}`,
	Effect:  Effect{Destructive: true, Idempotent: true, InTurn: always},
	run:     saveSession,
}

func saveSession(ctx context.Context, r *Request) (Reply, error) {
	file, overwrite := r.Text("file"), r.Flag("overwrite")
	dir, name, err := r.sessionFile(file)
	if err != nil {
		return Reply{}, err
	}
	defer dir.close()
	saved, err := r.Session.SaveSession(ctx, name, r.Limits.Timeout)
	if err != nil {
		return Reply{}, err
	}
	if saved.Empty {
		return Reply{Text: render.Safe("Nothing to save: the session has no definitions. No file was written." + notSaved(saved))}, nil
	}
	if err := dir.write(name, saved.Text, overwrite); errors.Is(err, fs.ErrExist) {
		return Reply{}, &args.Error{
			Problem: fmt.Sprintf("file is %q, which exists in %s. Nothing was written. Take another name, or overwrite it.", file, dir.path),
			Advice:  fmt.Sprintf("Next: save-session {\"file\": %s, \"overwrite\": true}", rawtext.Quote(file)),
		}
	} else if err != nil {
		dir.refuse(r, file, err)
		return Reply{}, r.Err
	}
	text := fmt.Sprintf("Saved: %s\n%s, %s bytes", filepath.Join(dir.path, name), saved.Summary, render.Count(len(saved.Text)))
	if saved.Dropped > 0 {
		text += fmt.Sprintf("\n; The %s that were older than the journal holds are not in it.", render.Plural(saved.Dropped, "definition"))
	}
	return Reply{Text: render.Safe(text + notSaved(saved))}, nil
}

// notSaved names what a saved session lacks.
func notSaved(saved *lisp.Saved) string {
	if len(saved.Lost) == 0 {
		return ""
	}
	return "\n; Not in it: " + strings.Join(saved.Lost, ", ") + "."
}
