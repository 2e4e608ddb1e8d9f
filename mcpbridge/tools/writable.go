package tools

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"swank-mcp/swank/lisp"
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
			if path := filepath.Join(dir, given); isFile(path) {
				return path
			}
		}
	}
	return r.Path(argument, true)
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// within opens the first of dirs in which path, absolute, lies when links are followed,
// and returns what path is called in it; nil if it lies in none. The caller closes it. No
// link that somebody makes later leads out of it.
func within(dirs []string, path string) (root *os.Root, name string, err error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, "", err
	}
	for _, dir := range dirs {
		dir, err := filepath.EvalSymlinks(dir)
		if err != nil {
			continue
		}
		if name, err = filepath.Rel(dir, real); err != nil || !filepath.IsLocal(name) {
			continue
		}
		root, err = os.OpenRoot(dir)
		return root, name, err
	}
	return nil, "", nil
}
