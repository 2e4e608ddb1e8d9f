package launch

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"
)

// CacheDir returns the absolute path of our cache: dir, or what [Config] says of "".
func CacheDir(dir string) (string, error) {
	if dir == "" {
		base, err := os.UserCacheDir()
		if err == nil && os.Getenv("XDG_CACHE_HOME") == "" {
			err = homeIsThere()
		}
		if err != nil {
			return "", err
		}
		dir = filepath.Join(base, "swank-mcp")
	}
	return filepath.Abs(dir)
}

// OpenCache returns [CacheDir] after it has proved writable. With an error, the directory may
// be "".
func OpenCache(dir string) (string, error) {
	dir, err := CacheDir(dir)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return dir, err
	}
	probe, err := os.MkdirTemp(dir, "tmp-probe-")
	if err != nil {
		return dir, err
	}
	return dir, os.Remove(probe)
}

// homeIsThere returns an error if the home directory does not exist: to make it is not for us.
func homeIsThere() error {
	home, err := os.UserHomeDir()
	if err == nil {
		_, err = os.Stat(home)
	}
	if err != nil {
		return fmt.Errorf("%w; create the home directory, or set XDG_CACHE_HOME", err)
	}
	return nil
}

// writeOnce writes a file that no reader sees half of. A file of the right
// size is there already, its name having the hash of its contents.
func writeOnce(name string, data []byte) error {
	if info, err := os.Stat(name); err == nil && info.Size() == int64(len(data)) {
		return nil
	}
	temporary, err := os.CreateTemp(filepath.Dir(name), "tmp-")
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name())
	_, err = temporary.Write(data)
	if closeErr := temporary.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	return os.Rename(temporary.Name(), name)
}

// WriteParts writes texts that belong together into files, each called after base
// and its number, and returns these. No reader sees half of one.
func WriteParts(base string, parts [][]byte) ([]string, error) {
	var files []string
	for i, part := range parts {
		file := fmt.Sprintf("%s-%d.lisp", base, i+1)
		if err := writeOnce(file, part); err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

// Bounds of what stays in the cache: so many of a kind, and those that were used just now up to
// keepUsed times as many. Servers of several versions may share the cache, and what one has used is
// not the other's to remove.
const (
	keepImages   = 2
	keepFasls    = 2
	keepProjects = 4
	keepUsed     = 4
	usedAfter    = time.Hour // what was used longer ago counts as unused
	staleAfter   = time.Hour // a temporary directory of this age has lost its maker
)

// keepKept is how many files of fasls are kept beside a core.
const keepKept = 4000

// pruneFasls removes dir if too much is in it.
func pruneFasls(dir string) {
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > keepKept {
		_ = os.RemoveAll(dir)
	}
}

// ownedName matches the directories that we make: --cache-dir may name a directory
// that has others in it.
var ownedName = regexp.MustCompile(`^(?:(image|swank|project)-[0-9a-f]{16}|(tmp)-(?:swank|core|probe)-[0-9]+)$`)

// prune removes what has not been used for longest, and what servers that were
// killed have left. Errors leave things for the next time.
func (f *imageFiles) prune() {
	entries, err := os.ReadDir(f.cacheDir)
	if err != nil {
		return
	}
	kinds := map[string][]fs.FileInfo{}
	for _, entry := range entries {
		kind := ownedName.FindStringSubmatch(entry.Name())
		if info, err := entry.Info(); err == nil && info.IsDir() && kind != nil {
			kinds[kind[1]+kind[2]] = append(kinds[kind[1]+kind[2]], info)
		}
	}
	remove := func(infos []fs.FileInfo) {
		for _, info := range infos {
			_ = os.RemoveAll(filepath.Join(f.cacheDir, info.Name()))
		}
	}
	newestFirst := func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) }
	for kind, keep := range map[string]int{"image": keepImages, "swank": keepFasls, "project": keepProjects} {
		infos := kinds[kind]
		slices.SortFunc(infos, newestFirst)
		more := infos[min(keep, len(infos)):]
		recent := 0
		for recent < len(more) && recent < (keepUsed-1)*keep && time.Since(more[recent].ModTime()) < usedAfter {
			recent++
		}
		remove(more[recent:])
	}
	remove(slices.DeleteFunc(kinds["tmp"], func(info fs.FileInfo) bool {
		return time.Since(info.ModTime()) < staleAfter
	}))
}
