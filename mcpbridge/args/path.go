package args

import (
	"os"
	"path/filepath"
	"strings"
)

// Path returns an argument that names a file, absolute: relative to the
// server's working directory, with ~ for the home directory. It does not look whether the file is
// there.
func (a *Args) Path(name string) string {
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
	return path
}
