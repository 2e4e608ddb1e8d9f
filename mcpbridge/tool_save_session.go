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

// sessionSaver is what saved sessions need of an [Image].
type sessionSaver interface {
	// SaveSession returns the source of what the session has defined, in turn
	// like Evaluate.
	SaveSession(ctx context.Context, session, file string, timeout time.Duration, queued func()) (*lisp.Saved, error)
	// LoadSession evaluates source like Evaluate, going on behind failures.
	LoadSession(ctx context.Context, session, file, source string, r lisp.Request) (*lisp.Loaded, *lisp.Result, error)
}

var saveSessionTool = tool{
	name:  "save-session",
	title: "Save session",
	set:   inCore,
	doc: "Write what this session has defined to a .lisp file, which load-session or sbcl --load brings back: " +
		"definitions, packages, declarations, systems; not later values.",
	params: func(limits) []param {
		return []param{
			{name: "file", kind: kindText, required: true, aliases: []alias{{name: "path"}, {name: "filename"}},
				doc: "Name of the file, in the server's session directory."},
			{name: "overwrite", kind: kindFlag, doc: "Replace an existing file. Default: false."},
		}
	},
	example:     `{"file": "session.lisp"}`,
	destructive: true,
	idempotent:  true,
	ordered:     true,
	run:         saveSession,
}

func saveSession(ctx context.Context, r *request) (reply, error) {
	file, overwrite := r.text("file"), r.flag("overwrite")
	if r.err != nil {
		return reply{}, r.err
	}
	dir, name, err := r.sessionFile(file)
	if err != nil {
		return reply{}, err
	}
	defer dir.close()
	saved, err := r.image.SaveSession(ctx, r.session, name, r.limits.Timeout, r.admit)
	if err != nil {
		return reply{}, err
	}
	if saved.Empty {
		return reply{text: sanitize("Nothing to save: the session has no definitions. No file was written." + notSaved(saved))}, nil
	}
	if err := dir.write(name, saved.Text, overwrite); errors.Is(err, fs.ErrExist) {
		return reply{}, &argError{
			fmt.Sprintf("file is %q, which exists in %s. Nothing was written.", file, dir.path),
			fmt.Sprintf("Next: save-session {\"file\": %s, \"overwrite\": true}, or another name.", quote(file)),
		}
	} else if err != nil {
		dir.refuse(r, file, err)
		return reply{}, r.err
	}
	text := fmt.Sprintf("Saved: %s\n%s, %s bytes", filepath.Join(dir.path, name), saved.Summary, count(len(saved.Text)))
	if saved.Dropped > 0 {
		text += fmt.Sprintf("\n; The %s that were older than the journal holds are not in it.", plural(saved.Dropped, "definition"))
	}
	return reply{text: sanitize(text + notSaved(saved))}, nil
}

// notSaved names what a saved session lacks.
func notSaved(saved *lisp.Saved) string {
	if len(saved.Lost) == 0 {
		return ""
	}
	return "\n; Not in it: " + strings.Join(saved.Lost, ", ") + "."
}
