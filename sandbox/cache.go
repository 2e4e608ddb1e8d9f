package sandbox

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
)

// keepCaches counts the unused directories of fasls that stay.
const keepCaches = 32

// cacheName matches the names that cacheOf gives, and removedCache those of directories that
// are being removed, or were when their remover ended.
var (
	cacheName    = regexp.MustCompile(`^[0-9a-f]{16}$`)
	removedCache = regexp.MustCompile(`^tmp-[0-9a-f]{16}$`)
)

// useCache makes dir, of [cacheOf], and keeps it until the function returned is called. Where it
// is new, those go which nobody has used for longest.
func useCache(dir string) (end func(), err error) {
	all := filepath.Dir(dir)
	if err := os.MkdirAll(all, 0o700); err != nil {
		return nil, err
	}
	unlock, err := lockCaches(all)
	if err != nil {
		return nil, err
	}
	held, isNew, err := holdCache(dir)
	var removed []string
	if isNew {
		removed = idleCaches(all)
	}
	unlock()
	for _, path := range removed {
		_ = os.RemoveAll(path) // or the next time
	}
	if err != nil {
		return nil, err
	}
	return func() { _ = held.Close() }, nil
}

// holdCache makes dir if it is not there, and keeps it by its descriptor.
func holdCache(dir string) (held *os.File, isNew bool, err error) {
	err = os.Mkdir(dir, 0o700)
	if isNew = err == nil; !isNew {
		if info, statErr := os.Lstat(dir); statErr != nil || !info.IsDir() {
			return nil, false, err
		}
	}
	if held, err = os.Open(dir); err != nil {
		return nil, isNew, err
	}
	_ = share(held) // code that has its own cache locked uses it
	_ = touch(dir)
	return held, isNew, nil
}

// idleCaches gives other names to the directories in all that nobody uses, but for those that
// were used last, and returns the names. Who calls it has all locked.
func idleCaches(all string) (removed []string) {
	entries, _ := os.ReadDir(all)
	var infos []fs.FileInfo
	for _, entry := range entries {
		if removedCache.MatchString(entry.Name()) {
			removed = append(removed, filepath.Join(all, entry.Name()))
		}
		if info, err := entry.Info(); err == nil && info.IsDir() && cacheName.MatchString(entry.Name()) {
			infos = append(infos, info)
		}
	}
	slices.SortFunc(infos, func(a, b fs.FileInfo) int {
		return cmp.Or(b.ModTime().Compare(a.ModTime()), cmp.Compare(a.Name(), b.Name()))
	})
	idle := 0
	for _, info := range infos {
		path := filepath.Join(all, info.Name())
		held, err := os.Open(path)
		if err != nil {
			continue
		}
		if own(held) == nil {
			if idle++; idle > keepCaches {
				to := filepath.Join(all, "tmp-"+info.Name())
				if os.Rename(path, to) == nil {
					removed = append(removed, to)
				}
			}
		}
		_ = held.Close()
	}
	return removed
}
