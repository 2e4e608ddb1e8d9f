package hub

import (
	"io/fs"
	"path/filepath"
)

// diskEntries is how many files and directories are counted at most: some 200 ms of work.
const diskEntries = 100_000

// A diskUse is what directories have on the disk.
type diskUse struct {
	bytes   int64
	entries int
	whole   bool // else there is more
}

// block is what each file and directory takes of a disk at least, and of what its size is a
// multiple there.
const block = 4096

// diskOf counts what is in directories of which none lies in another. What changes meanwhile
// may be counted or not.
func diskOf(dirs []string) diskUse {
	use := diskUse{whole: true}
	for _, dir := range dirs {
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return nil // it has gone, or is closed to us: then to the image, too
			}
			if use.entries++; use.entries > diskEntries {
				use.whole = false
				return fs.SkipAll
			}
			size := int64(block)
			if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
				size = max(block, (info.Size()+block-1)/block*block)
			}
			use.bytes += size
			return nil
		})
	}
	return use
}
