package kept

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"swank-mcp/internal/files"
)

// opened is the directory of the cores while it is open. Code of a session may write there, and beside
// it: so all is done in the directory that was opened, which is one and no link, and no name has a
// directory in it.
type opened struct {
	*Cores
	root *os.Root
}

// open opens the directory, if it is ours to work in: else a link would make the cores of another
// session this one's.
func (c *Cores) open() (*opened, error) {
	sessions, err := c.trees.Open(c.sessions)
	if err != nil {
		return nil, err
	}
	defer sessions.Close()
	return c.openIn(sessions)
}

func (c *Cores) openIn(sessions *os.Root) (*opened, error) {
	info, err := sessions.Lstat(CoresDir)
	if err != nil {
		return nil, err
	}
	noDirectory := fmt.Errorf("%s is not a directory, but a link or a file: move it away", c.dir)
	if !info.IsDir() {
		return nil, noDirectory
	}
	root, err := files.OpenDir(sessions, CoresDir)
	if err != nil {
		return nil, err
	}
	here, err := root.Stat(".")
	switch {
	case err != nil:
	case !os.SameFile(info, here):
		err = noDirectory
	case !owned(here):
		err = fmt.Errorf("%s belongs to another user", c.dir)
	default:
		return &opened{c, root}, nil
	}
	root.Close()
	return nil, err
}

func (o *opened) close() { _ = o.root.Close() }

// there reports whether there is something of that name.
func (o *opened) there(name string) bool {
	_, err := o.root.Lstat(name)
	return !errors.Is(err, fs.ErrNotExist)
}

// marker returns the name of the manifest of a core that is being saved, or removed.
func marker(name string) string { return temporary + name + manifestSuffix }

func (o *opened) list() (list []*Core) {
	entries, _ := files.ListIn(o.root, ".", maxEntries)
	left := int64(maxList)
	for _, entry := range entries {
		name, ok := strings.CutSuffix(entry.Name(), manifestSuffix)
		if !ok || left <= 0 {
			continue
		}
		core, size, err := o.find(name)
		if left -= size; err == nil {
			list = append(list, core)
		}
	}
	slices.SortFunc(list, func(a, b *Core) int { return b.savedAt().Compare(a.savedAt()) })
	return list
}

// find does the work of Find, and returns the number of bytes that it has read, too.
func (o *opened) find(name string) (_ *Core, size int64, err error) {
	manifest := filepath.Join(o.dir, name+manifestSuffix)
	text, err := files.ReadPlain(o.root, name+manifestSuffix, maxManifest)
	if errors.Is(err, files.ErrNotPlain) || errors.Is(err, files.ErrTooLarge) {
		return nil, 0, fmt.Errorf("%w: %w", err, ErrForeign)
	} else if err != nil {
		return nil, 0, err
	}
	size = int64(len(text))
	if size > maxForeign && o.checkSeal(text, sealIn(text)) != nil { // to parse it takes much more
		return nil, size, fmt.Errorf("%s: %w", manifest, ErrForeign)
	}
	core := &Core{dir: o.dir}
	if err := json.Unmarshal(text, core); err != nil || core.Name != name {
		return nil, size, fmt.Errorf("%s is damaged: %w", manifest, ErrForeign)
	}
	if core.foreign = o.checkSeal(text, core.Seal); core.foreign != nil {
		return core, size, nil
	}
	info, err := o.root.Lstat(name + coreSuffix)
	switch {
	case err != nil:
		return nil, size, fmt.Errorf("its core is damaged: %v", errors.Unwrap(err))
	case !info.Mode().IsRegular():
		return nil, size, fmt.Errorf("its core %s is damaged: %w", core.Path(), files.ErrNotPlain)
	case info.Size() != core.Size:
		return nil, size, fmt.Errorf("its core %s is damaged: it has %d bytes, and %d were written", core.Path(), info.Size(), core.Size)
	}
	return core, size, nil
}

func (o *opened) drop(name string) bool {
	if !coreName.MatchString(name) || o.root.Rename(name+manifestSuffix, marker(name)) != nil {
		return false
	}
	o.remove(name+coreSuffix, name+sourceSuffix, marker(name))
	return true
}

func (o *opened) remove(names ...string) {
	for _, name := range names {
		_ = o.root.Remove(name) // it goes with the next tidying up
	}
}

// prune removes the oldest of those that nobody has asked for beyond the bounds.
func (o *opened) prune() {
	count, bytes := 0, int64(0)
	for _, core := range o.list() {
		if !core.Auto || core.Foreign() != nil {
			continue
		}
		count++
		bytes += core.Size
		if count > 1 && (count > maxAutos || bytes > maxAutoBytes) {
			o.drop(core.Name)
		}
	}
}

// tidy removes what servers have left that were killed, or that lacked room: files under
// the names that they have while they are written, and the core and the source of a
// manifest that still has that name. Whatever else is there is somebody's.
func (o *opened) tidy() {
	var there, markers []string
	entries, _ := files.ListIn(o.root, ".", maxEntries)
	for _, entry := range entries {
		name, left := strings.CutPrefix(entry.Name(), temporary)
		suffix := filepath.Ext(name)
		core := strings.TrimSuffix(name, suffix)
		switch {
		case !left || entry.IsDir() || !coreName.MatchString(core):
		case suffix == manifestSuffix:
			markers = append(markers, marker(core))
			if !o.there(core + manifestSuffix) {
				there = append(there, core+coreSuffix, core+sourceSuffix)
			}
		case suffix == coreSuffix || suffix == sourceSuffix:
			there = append(there, temporary+name)
		}
	}
	o.remove(append(there, markers...)...)
}
