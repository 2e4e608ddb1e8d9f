package kept

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"swank-mcp/internal/files"
)

// Save saves a core. write writes it to the file of that path, onto the disk, and completes
// core. source is the text of its source.
func (c *Cores) Save(ctx context.Context, core *Core, source string, write func(file string) error) (err error) {
	key, err := c.newKey()
	if err != nil {
		return err
	}
	if err := c.makeDir(); err != nil {
		return err
	}
	unlock, err := c.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	c.tidy()
	core.dir = c.dir
	if _, err := os.Lstat(c.manifest(core.Name)); err == nil {
		return ErrCoreExists
	}
	for _, path := range []string{core.Path(), core.Source()} {
		if _, err := os.Lstat(path); err == nil {
			return fmt.Errorf("%s is there already, and no checkpoint's: choose another name, or move it away", path)
		}
	}
	defer func() {
		if err != nil {
			c.tidy()
		}
	}()
	file := c.temporary(core.Name + coreSuffix)
	if err := write(file); err != nil {
		return err
	}
	if err := onlyMine(file); err != nil {
		return err
	}
	core.Seal = noSeal
	text, err := json.MarshalIndent(core, "", "  ")
	if err != nil {
		return err
	}
	// From here on the manifest under its other name says whose the core and the source are.
	if err := writeFile(c.marker(core.Name), sealed(text, key)); err != nil {
		return err
	}
	if err := os.Rename(file, core.Path()); err != nil {
		return err
	}
	file = c.temporary(core.Name + sourceSuffix)
	if err := writeFile(file, []byte(source)); err != nil {
		return err
	}
	if err := os.Rename(file, core.Source()); err != nil {
		return err
	}
	if err := os.Rename(c.marker(core.Name), c.manifest(core.Name)); err != nil {
		return err
	}
	if dir, err := os.Open(c.dir); err == nil {
		_ = dir.Sync() // not every file system can
		dir.Close()
	}
	c.prune()
	return nil
}

// makeDir makes the directory, or proves that it is ours to write to: it lies in a project,
// which may come from elsewhere.
func (c *Cores) makeDir() error {
	if err := os.MkdirAll(filepath.Dir(c.dir), 0o700); err != nil {
		return err
	}
	if err := os.Mkdir(c.dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := c.ours(); err != nil {
		return err
	}
	if err := c.close(); err != nil {
		return err
	}
	ignore, err := os.OpenFile(filepath.Join(c.dir, ".gitignore"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err == nil {
		_, err = ignore.WriteString("*\n")
		err = errors.Join(err, ignore.Close())
	}
	if err != nil {
		os.Remove(filepath.Join(c.dir, ".gitignore"))
	}
	return err
}

// close closes the directory to others. Who can write beside it may have put a link there now.
func (c *Cores) close() error {
	root, err := os.OpenRoot(filepath.Dir(c.dir))
	if err != nil {
		return err
	}
	return errors.Join(root.Chmod(CoresDir, 0o700), root.Close())
}

// ours says why nothing is to be written in the directory.
func (c *Cores) ours() error {
	info, err := os.Lstat(c.dir)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is not a directory, but a link or a file: move it away", c.dir)
	case !owned(info):
		return fmt.Errorf("%s belongs to another user", c.dir)
	}
	return nil
}

func (c *Cores) temporary(name string) string { return filepath.Join(c.dir, temporary+name) }

// marker is the path of the manifest of a core that is being saved, or removed.
func (c *Cores) marker(name string) string { return c.temporary(name + manifestSuffix) }

// onlyMine closes a file to others. Who made it may have put a link to something else there.
func onlyMine(path string) error {
	file, err := files.Open(path, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(file.Chmod(0o600), file.Close())
}

// writeFile writes a new file, onto the disk.
func writeFile(path string, text []byte) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// lock makes the directory this server's to save in. Another server that saves there is
// waited for until ctx ends.
func (c *Cores) lock(ctx context.Context) (unlock func(), err error) {
	f, err := files.Open(filepath.Join(c.dir, ".lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		if err = lockFile(f); err == nil {
			return func() { f.Close() }, nil
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, fmt.Errorf("another server saves in %s: %w", c.dir, err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// tidy removes what servers have left that were killed, or that lacked room: files under
// the names that they have while they are written, and the core and the source of a
// manifest that still has that name. Whatever else is there is somebody's.
func (c *Cores) tidy() {
	var there, markers []string
	entries, _ := os.ReadDir(c.dir)
	for _, entry := range entries {
		name, left := strings.CutPrefix(entry.Name(), temporary)
		suffix := filepath.Ext(name)
		core := strings.TrimSuffix(name, suffix)
		switch {
		case !left || entry.IsDir() || !coreName.MatchString(core):
		case suffix == manifestSuffix:
			markers = append(markers, c.marker(core))
			if _, err := os.Lstat(c.manifest(core)); errors.Is(err, fs.ErrNotExist) {
				there = append(there, filepath.Join(c.dir, core+coreSuffix), filepath.Join(c.dir, core+sourceSuffix))
			}
		case suffix == coreSuffix || suffix == sourceSuffix:
			there = append(there, c.temporary(name))
		}
	}
	for _, file := range append(there, markers...) {
		os.Remove(file)
	}
}
