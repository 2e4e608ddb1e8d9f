package main

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"swank-mcp/serve/door"
	"swank-mcp/serve/hub"
	"swank-mcp/serve/pool"
	"swank-mcp/swank/lisp"
)

// aheadKind says for which sessions an image is that is started ahead: those without a name of
// one principal, or any that gets a name. What such an image may write is fixed at its start.
type aheadKind struct {
	named     bool
	principal string // "" if named
}

// aheadImage is an image that no session has yet. One that is for a named session has an empty
// directory, which will be the session's.
type aheadImage struct {
	*lisp.Ahead
	dir      string // "" if it is for no named session
	promised bool   // the directory is a session's, though the image may never be; the pool guards it
}

// Close ends the image. A directory that is no session's goes with it.
func (a *aheadImage) Close() {
	a.Ahead.Close()
	if a.dir != "" && !a.promised {
		_ = os.Remove(a.dir)
	}
}

type aheadPool = pool.Pool[aheadKind, *aheadImage]

// rooms are the directories of sessions, below state, and the images that wait there. A named
// session that was given an image has the image's directory, under the name of a link: the
// sandbox around an image is made of directories that are there when it starts.
type rooms struct {
	state string
	pool  *aheadPool // nil: no image is started ahead
	log   *slog.Logger

	copying *lisp.CopyShare // of all images

	mu   sync.Mutex
	held map[hub.ID]*pool.Held[aheadKind, *aheadImage] // for sessions that are being made
}

// rooms returns those below state.
func (c *command) rooms(state string, trace io.Writer, log *slog.Logger) *rooms {
	r := &rooms{state: state, log: log, copying: lisp.NewCopyShare(httpCheckpointPart, httpCheckpointSave), held: map[hub.ID]*pool.Held[aheadKind, *aheadImage]{}}
	if c.http.lease == 0 {
		removeEmpty(slotsDir(state))
	}
	if c.http.pool == 0 {
		return r
	}
	first := []aheadKind{{named: true}, {principal: c.firstPrincipal(state)}}
	r.pool = pool.New(pool.Options[aheadKind, *aheadImage]{
		Size: c.http.pool, First: first[:min(len(first), c.http.pool)], Log: log,
		Start:   func(ctx context.Context, k aheadKind) (*aheadImage, error) { return c.startAhead(ctx, k, state, trace) },
		Promise: func(a *aheadImage) { a.promised = true },
	})
	return r
}

// firstPrincipal is who most likely comes first.
func (c *command) firstPrincipal(state string) string {
	if c.http.place.NoAuth {
		return door.Anybody
	}
	if all, err := door.Credentials(c.tokensFile(state)); err == nil {
		return all[0].Principal
	}
	return firstPrincipal
}

// ahead is for hub.Options.Ahead.
func (r *rooms) ahead() hub.Ahead {
	if r.pool == nil {
		return nil
	}
	return r.pool
}

// startAhead starts an image of the kind, as confined as that of a session will be.
func (c *command) startAhead(ctx context.Context, k aheadKind, state string, trace io.Writer) (*aheadImage, error) {
	a := &aheadImage{}
	dir := sessionDirOf(state, hub.ID{Principal: k.principal})
	if k.named {
		a.dir = filepath.Join(slotsDir(state), rand.Text())
		dir = a.dir
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	box, err := c.sandbox(c.projectDirs, dir, nil)
	if err != nil {
		return nil, err
	}
	if c.trace == "" {
		trace = nil
	}
	cfg := c.lisp.Launch
	cfg.Yields = true
	if box != nil {
		cfg.Sandbox = box.Launch()
	}
	if a.Ahead, err = lisp.StartAhead(ctx, cfg, trace); err != nil {
		if a.dir != "" {
			_ = os.Remove(a.dir)
		}
		return nil, err
	}
	return a, nil
}

// slotsDir is where the directories are that were made before their sessions had a name.
func slotsDir(state string) string { return filepath.Join(state, "slots") }

// removeEmpty removes the empty directories in dir: a server that was killed has left them. That
// of a session is made again when it is wanted.
func removeEmpty(dir string) {
	all, _ := os.ReadDir(dir)
	for _, entry := range all {
		if entry.IsDir() {
			_ = os.Remove(filepath.Join(dir, entry.Name()))
		}
	}
}

// make makes the directory of a session that has none. A named one is given an image with it,
// if one waits; what is there stays as it is.
func (r *rooms) make(id hub.ID) error {
	dir := sessionDirOf(r.state, id)
	if id.Name == "" || r.pool == nil {
		return makeDir(dir)
	}
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		return makeDir(dir)
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return err
	}
	held, image, ok := r.pool.Hold(aheadKind{named: true})
	if !ok {
		return makeDir(dir)
	}
	to, err := filepath.Rel(filepath.Dir(dir), image.dir) // the volume may be elsewhere for the next server
	if err == nil {
		_, err = os.Lstat(image.dir) // else somebody has tidied up
	}
	if err == nil {
		err = os.Symlink(to, dir)
	}
	if err != nil {
		held.Release()
		_ = os.Remove(image.dir) // it is nobody's
		return makeDir(dir)      // another server may have made it first
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held[id] = held
	return nil
}

// makeDir makes the directory, or that to which the link leads.
func makeDir(dir string) error { return os.MkdirAll(target(dir), 0o700) }

// target is where the directory of a session is.
func target(dir string) string {
	if to, err := os.Readlink(dir); err == nil {
		return filepath.Join(filepath.Dir(dir), to)
	}
	return dir
}

// of returns the directory of a session, which was made, what is for lisp.Config.Ahead, and
// what is to be called at the session's end.
func (r *rooms) of(id hub.ID) (dir string, ahead func() *lisp.Ahead, end func()) {
	dir = target(sessionDirOf(r.state, id))
	if r.pool == nil {
		return dir, nil, func() {}
	}
	if id.Name == "" {
		return dir, func() *lisp.Ahead {
			if image, ok := r.pool.Take(aheadKind{principal: id.Principal}); ok {
				return image.Ahead
			}
			return nil
		}, func() {}
	}
	r.mu.Lock()
	held := r.held[id]
	delete(r.held, id)
	r.mu.Unlock()
	return dir, func() *lisp.Ahead {
		if image, ok := held.Claim(); ok {
			return image.Ahead
		}
		// An image is about to be started here, and could write nowhere without the directory.
		if err := makeDir(dir); err != nil {
			r.log.Warn("making the directory of a session", "err", err)
		}
		return nil
	}, held.Release
}
