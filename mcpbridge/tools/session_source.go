package tools

import (
	"path/filepath"
	"slices"
	"strings"

	"swank-mcp/swank/lisp"
)

// ofProject reports whether the file at path, which has that text, is a source of the project's
// systems and no saved session.
func (r *Request) ofProject(path, text string) bool {
	if r.Project == nil || lisp.SavedSession(text) {
		return false
	}
	p := r.Project()
	return p != nil && len(p.Definitions) > 0 && slices.Contains(p.LispFiles(r.context()), path)
}

// nextSource is the call that loads a source of the project: its system, if one definition lies
// nearest above it, or else the file.
func (r *Request) nextSource(path string) string {
	dir, systems := "", []string{}
	for _, file := range r.Project().Definitions {
		switch at := filepath.Dir(file); {
		case !strings.HasPrefix(path, at+string(filepath.Separator)) || len(at) < len(dir):
		case at == dir:
			systems = append(systems, file)
		default:
			dir, systems = at, []string{file}
		}
	}
	if len(systems) == 1 && r.Takes("load-system") {
		return nextCall("load-system", "system", strings.TrimSuffix(filepath.Base(systems[0]), ".asd"))
	}
	if r.Takes("load-file") {
		return nextCall("load-file", "path", path)
	}
	literal := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(path)
	return nextCall("evaluate-lisp", "code", `(load "`+literal+`")`)
}
