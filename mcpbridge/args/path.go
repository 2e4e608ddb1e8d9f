package args

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Path returns an argument that names a file, absolute: relative to the
// server's working directory, with ~ for the home directory. With here, the
// file is to be read by the server itself, so it must exist.
func (a *Args) Path(name string, here bool) string {
	given := strings.TrimSpace(a.Text(name))
	if given == "" {
		if a.declared(name).Required {
			a.Fail("%s is empty; it must be the path of a file.", name)
		}
		return ""
	}
	path := given
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || rest[0] == '/') {
		home, err := os.UserHomeDir()
		if err != nil {
			a.Fail("%s: %v", name, err)
			return ""
		}
		path = home + rest
	}
	path, err := filepath.Abs(path)
	if err != nil {
		a.Fail("%s: %v", name, err)
		return ""
	}
	if !here {
		return path
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		a.Fail("%s: there is no file %s.%s", name, path, nearFiles(path))
	case err != nil:
		a.Fail("%s: %v", name, err)
	case !info.Mode().IsRegular():
		a.Fail("%s: %s is no file.", name, path)
	}
	return path
}

// maxNear is how many files are offered for one that is not there.
const maxNear = 5

// nearFiles is a sentence about what may have been meant by path.
func nearFiles(path string) string {
	dir := filepath.Dir(path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return " Nor is there a directory " + dir + "."
	}
	var lisp []string
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		if name := e.Name(); editDistance(name, filepath.Base(path)) <= max(2, len(name)/4) {
			return " Near it: " + filepath.Join(dir, name) + "."
		} else if strings.HasSuffix(name, ".lisp") && len(lisp) < maxNear {
			lisp = append(lisp, name)
		}
	}
	if len(lisp) == 0 {
		return " That directory has no Lisp files."
	}
	return " In that directory: " + strings.Join(lisp, ", ") + "."
}
