package files

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Find opens the first directory of in, which are absolute and are kept open, in which path lies when
// all links are followed. It returns what path is called there, without links, and nil if it lies in
// none. The caller closes the directory.
func (t *Trees) Find(path string, in ...string) (root *os.Root, name string, err error) {
	v := t.view(in...)
	at, err := v.find(path)
	if err != nil || at.tree == nil {
		return nil, "", err
	}
	for _, dir := range in {
		d, err := v.follow(filepath.Clean(dir))
		if err != nil || d.tree == nil {
			continue
		}
		if name, err = filepath.Rel(d.path, at.path); err != nil || !filepath.IsLocal(name) {
			continue
		}
		root, err = d.open()
		return root, name, err
	}
	return nil, "", nil
}

// Real returns path, which is absolute, without links.
func (t *Trees) Real(path string) (string, error) {
	at, err := t.view().find(path)
	return at.path, err
}

// ErrOutside is the error of a directory that lies in no tree.
var ErrOutside = errors.New("a link leads out of the project and the session directory")

// Open opens the directory at path, which is absolute, in a tree. The caller closes it.
func (t *Trees) Open(path string) (*os.Root, error) {
	at, err := t.view().follow(path)
	if err != nil {
		return nil, err
	}
	return at.own()
}

// Make opens the directory at path, which is absolute, in a tree, and makes it, and those above it
// that are missing, if it is not there. The home directory is none of these. The caller closes it.
func (t *Trees) Make(path string, perm fs.FileMode) (*os.Root, error) {
	at, err := t.view().follow(path)
	switch {
	case err == nil:
		return at.own()
	case len(at.rest) == 0 || !errors.Is(err, fs.ErrNotExist):
		return nil, err
	case at.tree != nil:
		err = at.tree.root.MkdirAll(filepath.Join(append([]string{at.name}, at.rest...)...), perm)
	case at.passed:
		return nil, outside(path)
	default:
		err = MakeDir(filepath.Join(append([]string{at.path}, at.rest...)...), perm)
	}
	if err == nil {
		at, err = t.view().follow(path)
	}
	if err != nil {
		return nil, err
	}
	return at.own()
}

// own opens a place as a directory in a tree.
func (p place) own() (*os.Root, error) {
	if p.tree == nil {
		return nil, outside(p.path)
	}
	return p.open()
}

func outside(path string) error { return &fs.PathError{Op: "open", Path: path, Err: ErrOutside} }

// Stat returns what the system knows of what is at path, which is absolute, when all links are followed.
func (t *Trees) Stat(path string) (fs.FileInfo, error) {
	at, err := t.view().find(path)
	return at.info, err
}

// Lstat returns what the system knows of what is at path, which is absolute, be it a link.
func (t *Trees) Lstat(path string) (fs.FileInfo, error) {
	root, err := t.Look(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.Lstat(filepath.Base(path))
}

// Read returns the text of the file at path, which is absolute. What is no file is ErrNotPlain, and
// a file of more than most bytes ErrTooLarge.
func (t *Trees) Read(path string, most int64) ([]byte, error) {
	at, err := t.view().find(path)
	switch {
	case err != nil:
		return nil, err
	case !at.info.Mode().IsRegular():
		return nil, notPlain(path)
	case at.tree != nil:
		return ReadIn(at.tree.root, at.name, most)
	}
	text, _, err := Read(at.path, most)
	return text, err
}

// Look opens the directory at path, which is absolute, to read what is in it. The caller closes it.
func (t *Trees) Look(path string) (*os.Root, error) {
	at, err := t.view().find(path)
	if err != nil {
		return nil, err
	}
	return at.open()
}

// Names returns the names of the entries of the directory at path, which is absolute, sorted. Of
// more than most it returns most, in any order.
func (t *Trees) Names(path string, most int) ([]string, error) {
	root, err := t.Look(path)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	entries, err := ListIn(root, ".", most)
	if err != nil && !errors.Is(err, ErrTooLarge) {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, nil
}

// find follows a path that may be read. It answers alike for any other path, be it there or not.
func (v view) find(path string) (place, error) {
	path = filepath.Clean(path)
	if v.mayRead != nil && !v.named(path) && !v.mayRead(path) {
		return place{}, notThere(path)
	}
	at, err := v.follow(path)
	if v.mayRead != nil && (at.tree == nil || !at.tree.code) && (err != nil || !v.mayRead(at.path)) {
		return place{}, notThere(path)
	}
	return at, err
}

func notThere(path string) error {
	return &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
}

// named reports whether path is called like something in a tree.
func (v view) named(path string) bool {
	return slices.ContainsFunc(v.trees, func(t *tree) bool {
		return t.code && (below(t.path, path) || t.real != "" && below(t.real, path))
	})
}

// below reports whether path is dir or is called like something in it.
func below(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
}

// open opens a place as a directory.
func (p place) open() (*os.Root, error) {
	if p.tree == nil {
		return os.OpenRoot(p.path + asDir)
	}
	return OpenDir(p.tree.root, p.name)
}

// asDir behind a path has the system open a directory, and not wait for a pipe.
const asDir = string(filepath.Separator) + "."

// OpenDir opens the directory of that name in root. A link in its place is followed inside of root.
func OpenDir(root *os.Root, name string) (*os.Root, error) { return root.OpenRoot(name + asDir) }

// OpenIn opens the plain file of that name in root, as [Open] does: it follows no link as the last
// part of the name.
func OpenIn(root *os.Root, name string, flag int, perm fs.FileMode) (*os.File, error) {
	if flag&os.O_CREATE != 0 {
		f, err := root.OpenFile(name, flag|os.O_EXCL|waitless, perm)
		if !errors.Is(err, fs.ErrExist) || flag&os.O_EXCL != 0 {
			return f, err
		}
		flag &^= os.O_CREATE
	}
	before, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, notPlain(name)
	}
	f, err := root.OpenFile(name, flag|waitless, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !os.SameFile(info, before) { // it may be another's by now, or a link
		f.Close()
		return nil, cmp.Or(err, notPlain(name))
	}
	return f, nil
}

// ReadPlain returns what is in the plain file of that name in root, of which no link leads to it.
// A file of more than most bytes is ErrTooLarge.
func ReadPlain(root *os.Root, name string, most int64) ([]byte, error) {
	f, err := OpenIn(root, name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f, most)
}

// ListIn returns the entries of the directory of that name in root, sorted by name. More than most
// entries are ErrTooLarge, with most of them. It waits for nobody who puts a pipe in the place of
// the directory.
func ListIn(root *os.Root, name string, most int) ([]fs.DirEntry, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|waitless|directory, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(most + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	err = nil
	if len(entries) > most {
		entries, err = entries[:most], fmt.Errorf("%s: %w", name, ErrTooLarge)
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return entries, err
}
