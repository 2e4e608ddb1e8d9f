package tools

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"swank-mcp/mcpbridge/args"
	"swank-mcp/swank/lisp"
	"swank-mcp/swank/lisp/project"
)

// writableDirs are the directories in which files may be written: the project's, and that
// of saved sessions.
func (r *Request) writableDirs() []string {
	var dirs []string
	if r.Project != nil {
		if p := r.Project(); p != nil {
			dirs = append(dirs, p.Dirs...)
		}
	}
	if r.SessionDir == "" && r.Trees.Confined() {
		return dirs // code may write in the working directory if that is the project's
	}
	if dir, err := filepath.Abs(r.SessionDir); err == nil && !slices.Contains(dirs, dir) { // of "": the working directory
		dirs = append(dirs, dir)
	}
	return dirs
}

// outside is the error of a file that may not be written.
func (r *Request) outside(path string) error {
	return &lookError{&lisp.LookupError{Type: "OUTSIDE-PROJECT", Message: fmt.Sprintf(
		"%s is not in the project or in the session directory: %s. The person who runs the server can name others with --project and --session-dir. "+nothingWritten,
		path, strings.Join(r.writableDirs(), ", "))}, ""}
}

// projectFile is an argument that names a file that exists, absolute: relative to the
// server's working directory or to that of the project.
func (r *Request) projectFile(argument string) string {
	given := strings.TrimSpace(r.Text(argument))
	if r.Err == nil && given != "" && filepath.IsLocal(given) {
		for _, dir := range r.writableDirs() {
			path := filepath.Join(dir, given)
			if info, err := r.Trees.Stat(path); err == nil && info.Mode().IsRegular() {
				return path
			}
		}
	}
	return r.file(argument)
}

// file is an argument that names a file that the server itself is to read, absolute. It must be
// there, and of one that the sandbox closes nothing is told.
func (r *Request) file(argument string) string {
	path := r.Path(argument)
	if r.Err != nil || path == "" {
		return path
	}
	info, err := r.Trees.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		closed := ""
		if r.Trees.Confined() {
			closed = " that the sandbox leaves open"
		}
		r.Fail("%s: there is no file %s%s.%s", argument, path, closed, r.nearFiles(path))
	case err != nil:
		r.Fail("%s: %v", argument, err)
	case !info.Mode().IsRegular():
		r.Fail("%s: %s is no file.", argument, path)
	}
	return path
}

// Of a directory so many entries are looked at, and so many files offered, for one that is not there.
const (
	maxEntries = 1_000
	maxNear    = 5
)

// nearFiles is a sentence about what may have been meant by path.
func (r *Request) nearFiles(path string) string {
	dir := filepath.Dir(path)
	names, err := r.Trees.Names(dir, maxEntries)
	if err != nil {
		return " Nor is there a directory " + dir + "."
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !project.IsSource(name) || name == filepath.Base(path) })
	if near := args.Misspelled(filepath.Base(path), names); near != "" {
		return " Near it: " + filepath.Join(dir, near) + "."
	}
	if len(names) == 0 {
		return " That directory has no Lisp files."
	}
	return " In that directory: " + strings.Join(names[:min(len(names), maxNear)], ", ") + "."
}
