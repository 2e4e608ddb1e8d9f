package kept

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"swank-mcp/internal/files"
)

// Opener opens the file of a core that was written, to read it and to append to it. Where the path of
// the file leads may be another place by then.
type Opener func() (*os.File, error)

// Save saves a core. write has it written to the file of that path, onto the disk, and completes
// core by what open opens. source is the text of its source.
func (c *Cores) Save(ctx context.Context, core *Core, source string, write func(file string, open Opener) error) (err error) {
	key, err := c.newKey()
	if err != nil {
		return err
	}
	at, err := c.make()
	if err != nil {
		return err
	}
	defer at.close()
	unlock, err := at.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	at.tidy()
	core.dir = c.dir
	if at.there(core.Name + manifestSuffix) {
		return ErrCoreExists
	}
	for _, name := range []string{core.Name + coreSuffix, core.Name + sourceSuffix} {
		if at.there(name) {
			return fmt.Errorf("%s is there already, and no checkpoint's: choose another name, or move it away", filepath.Join(c.dir, name))
		}
	}
	defer func() {
		if err != nil {
			at.tidy()
		}
	}()
	if err := at.write(core, write); err != nil {
		return err
	}
	core.Seal = noSeal
	text, err := json.MarshalIndent(core, "", "  ")
	if err != nil {
		return err
	}
	if len(text) > maxManifest {
		return fmt.Errorf("what the sessions have defined takes %d MB beside the core, more than %d", len(text)>>20, maxManifest>>20)
	}
	// From here on the manifest under its other name says whose the core and the source are.
	if err := at.writeNew(marker(core.Name), sealed(text, key)); err != nil {
		return err
	}
	if err := at.root.Rename(temporary+core.Name+coreSuffix, core.Name+coreSuffix); err != nil {
		return err
	}
	if err := at.writeNew(temporary+core.Name+sourceSuffix, []byte(source)); err != nil {
		return err
	}
	if err := at.root.Rename(temporary+core.Name+sourceSuffix, core.Name+sourceSuffix); err != nil {
		return err
	}
	if err := at.root.Rename(marker(core.Name), core.Name+manifestSuffix); err != nil {
		return err
	}
	if dir, err := at.root.Open("."); err == nil {
		_ = dir.Sync() // not every file system can
		dir.Close()
	}
	at.prune()
	return nil
}

// write has the core written, and closes it to others.
func (o *opened) write(core *Core, write func(file string, open Opener) error) error {
	name := temporary + core.Name + coreSuffix
	open := func() (*os.File, error) { return files.OpenIn(o.root, name, os.O_RDWR|os.O_APPEND, 0) }
	if err := write(filepath.Join(o.dir, name), open); err != nil {
		return err
	}
	file, err := files.OpenIn(o.root, name, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(file.Chmod(0o600), file.Close())
}

// make makes the directory, or proves that it is ours to write to: it lies in a project,
// which may come from elsewhere. It returns it open, and closed to others.
func (c *Cores) make() (*opened, error) {
	sessions, err := c.trees.Make(c.sessions, 0o700)
	if err != nil {
		return nil, err
	}
	defer sessions.Close()
	if err := sessions.Mkdir(CoresDir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	at, err := c.openIn(sessions)
	if err != nil {
		return nil, err
	}
	if err = at.root.Chmod(".", 0o700); err == nil {
		err = at.ignore()
	}
	if err != nil {
		at.close()
		return nil, err
	}
	return at, nil
}

// ignore has git ignore what is in the directory, unless somebody has said otherwise.
func (o *opened) ignore() error {
	const name = ".gitignore"
	ignore, err := files.OpenIn(o.root, name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err == nil {
		_, err = ignore.WriteString("*\n")
		err = errors.Join(err, ignore.Close())
	}
	if err != nil {
		o.remove(name)
	}
	return err
}

// writeNew writes a new file, onto the disk.
func (o *opened) writeNew(name string, text []byte) error {
	file, err := files.OpenIn(o.root, name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
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
func (o *opened) lock(ctx context.Context) (unlock func(), err error) {
	f, err := files.OpenIn(o.root, ".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		if err = lockFile(f); err == nil {
			return func() { unlockFile(f) }, nil
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, fmt.Errorf("another server saves in %s: %w", o.dir, err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}
