// Package watch tells when the Lisp sources of a project have been written.
//
// Begin with [Sources].
package watch

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"swank-mcp/internal/files"
	"swank-mcp/swank/lisp/project"
)

// How long the files must have been still before they are told of, since editors and
// agents write several at once; and after what time they are told of in any case.
const (
	stillFor   = 150 * time.Millisecond
	atTheLeast = 2 * time.Second
)

// Sources calls changed each time that Lisp sources below dirs, which are absolute, have
// been written, made, renamed or removed, until ctx ends. It looks at the folders that
// [project.Find] looks at, and at new ones. What happens while changed runs is told
// after it. The error is nil when ctx ends it; else the folders cannot be watched.
func Sources(ctx context.Context, trees *files.Trees, dirs []string, changed func()) error {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	defer w.Close()
	for _, dir := range dirs {
		if err := watchTree(ctx, w, trees, dir); err != nil {
			return err
		}
	}
	var still, latest <-chan time.Time // nil: nothing is to be told
	noted := func() {
		still = time.After(stillFor)
		if latest == nil {
			latest = time.After(atTheLeast)
		}
	}
	tell := func() {
		still, latest = nil, nil
		changed()
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-still:
			tell()
		case <-latest:
			tell()
		case err := <-w.Errors:
			if !errors.Is(err, fsnotify.ErrEventOverflow) {
				return err
			}
			noted() // events were lost: any file may have changed
		case e := <-w.Events:
			if e.Has(fsnotify.Create) && isFolder(trees, e.Name) && !project.LeftOut(filepath.Base(e.Name)) {
				if err := watchTree(ctx, w, trees, e.Name); err != nil {
					return err
				}
				noted() // what was written there before it was watched
			}
			if isSource(e.Name) && e.Op != fsnotify.Chmod {
				noted()
			}
		}
	}
}

// watchTree adds dir and the folders below it to w. A folder that is made after they were
// listed, and before the one that it is in is watched, is told by nobody: so it lists them
// until there is no other.
func watchTree(ctx context.Context, w *fsnotify.Watcher, trees *files.Trees, dir string) error {
	watched := map[string]bool{}
	for before := -1; before < len(watched); {
		before = len(watched)
		for _, folder := range project.Folders(ctx, trees, dir) {
			if watched[folder] {
				continue
			}
			if err := w.Add(folder); err != nil && isFolder(trees, folder) {
				return err
			}
			watched[folder] = true
		}
	}
	return nil
}

// isFolder reports whether there is a directory at path, and no link.
func isFolder(trees *files.Trees, path string) bool {
	info, err := trees.Lstat(path)
	return err == nil && info.IsDir()
}

// isSource reports whether a file of that name may be a source of a system. Locks and
// copies of Emacs are none.
func isSource(path string) bool {
	name := filepath.Base(path)
	return !strings.HasPrefix(name, ".") &&
		(project.IsSource(name) || strings.EqualFold(filepath.Ext(name), ".l")) // which others call files of Lex
}
