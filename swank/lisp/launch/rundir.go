package launch

import (
	"errors"
	"os"
	"path/filepath"
	"slices"

	"swank-mcp/internal/rundir"
)

// runPrefix begins the names of the directories of images.
const runPrefix = "swank-mcp.image-"

// runBases returns the directories in which an image's private directory may
// be made, best first. The directory of [rundir.Dir] excludes all others.
func runBases() []string {
	if dir := rundir.Dir(); dir != "" {
		return []string{dir}
	}
	return usualBases()
}

func usualBases() []string { return []string{os.Getenv("XDG_RUNTIME_DIR"), os.TempDir(), "/tmp"} }

// ImageDirs returns how the paths of the private directories begin that images of this user
// may have, whichever of the user's servers has started them.
func ImageDirs() (prefixes []string) {
	for _, base := range append(usualBases(), rundir.Dir()) {
		if filepath.IsAbs(base) {
			prefixes = append(prefixes, filepath.Join(base, runPrefix))
		}
	}
	return prefixes
}

// makeRunDir makes a directory that only we can enter in the first of bases
// that allows it and leaves room for a socket's name, else in the first that
// allows it: Swank then listens on the loopback interface. In which encoding Lisp
// takes the name of a socket depends on the locale: it has to be ASCII.
func makeRunDir(bases []string) (string, error) {
	roomy := func(base string) bool {
		return ascii(base) && len(base)+len("/"+runPrefix+"0123456789/swank.sock") <= maxSocketPath
	}
	bases = slices.DeleteFunc(slices.Clone(bases), func(base string) bool { return !filepath.IsAbs(base) })
	slices.SortStableFunc(bases, func(a, b string) int {
		switch {
		case roomy(a) == roomy(b):
			return 0
		case roomy(a):
			return -1
		default:
			return 1
		}
	})
	err := errors.New("no directory for temporary files")
	if dir := rundir.Dir(); filepath.IsAbs(dir) {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return "", err
		}
	}
	for _, base := range bases {
		var dir string
		if dir, err = os.MkdirTemp(base, runPrefix); err == nil {
			return dir, nil
		}
	}
	return "", err
}

// makeHeldDir is makeRunDir with [holdDir], whose file may be nil. It makes another directory
// when somebody has taken the first for one that was left behind.
func makeHeldDir(bases []string) (dir string, held *os.File, err error) {
	for {
		if dir, err = makeRunDir(bases); err != nil {
			return "", nil, err
		}
		held, lost := holdDir(dir)
		if !lost {
			return dir, held, nil
		}
	}
}
