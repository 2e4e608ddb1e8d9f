package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Trees are the directories in which code of a session may write. They are opened before such
// code runs, and kept open: what code puts in the place of one, or of a directory on the way to
// one, is not taken for it. What lies in one is opened through it, so no link leads out. The zero
// value has none, and any goroutine may call the methods.
type Trees struct {
	mu      sync.Mutex
	trees   []*tree
	mayRead func(path string) bool
}

// tree is one of them. It is not changed, but replaced.
type tree struct {
	path string      // as it was named, absolute
	code bool        // code may write there
	real string      // the same without links, as it was when it was opened
	root *os.Root    // nil: it is not open
	info fs.FileInfo // of root
}

// Add opens directories, absolute, in which code may write from now on. One that is not there is
// opened when it is first used. One that lies in a tree of an earlier call, where code may have put
// anything, is always opened through that.
func (t *Trees) Add(dirs ...string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.add(dirs, true)
}

// Keep opens directories, absolute, in which we write and code of a session may not. Nothing that is
// in them may be read for that in the sandbox; [Trees.Open] opens them all the same.
func (t *Trees) Keep(dirs ...string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.add(dirs, false)
}

func (t *Trees) add(dirs []string, code bool) {
	t.refresh()
	before := view{trees: slices.Clone(t.trees)}
	for _, dir := range dirs {
		dir = filepath.Clean(dir)
		i := slices.IndexFunc(t.trees, func(o *tree) bool { return o.path == dir })
		switch {
		case i < 0:
			t.trees = append(t.trees, before.open(&tree{path: dir, code: code}))
		case code && !t.trees[i].code:
			open := *t.trees[i]
			open.code = true
			t.trees[i] = &open
		}
	}
}

// Confine has nothing read outside of the trees but that for which mayRead returns true, which gets
// absolute paths. Whatever else is asked for is answered as what is not there.
func (t *Trees) Confine(mayRead func(path string) bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.mayRead = mayRead
}

// Confined reports whether [Trees.Confine] was called.
func (t *Trees) Confined() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.mayRead != nil
}

// Close closes the directories. Nothing is found in them any more.
func (t *Trees) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, tree := range t.trees {
		if tree.root != nil {
			_ = tree.root.Close() // nothing was written to it
		}
	}
	t.trees = nil
}

// refresh opens the trees that are not open, and anew those whose path leads to another directory by
// now.
func (t *Trees) refresh() {
	for changed := true; changed; { // what is open now may be on the way to one before it
		changed = false
		for i, old := range t.trees {
			v := view{trees: slices.Delete(slices.Clone(t.trees), i, i+1)}
			t.trees[i] = v.open(old) // the other one is closed when nobody uses it
			changed = changed || t.trees[i] != old
		}
	}
}

// open returns old, opened if its path leads to another directory by now, but not by way of a tree:
// code of a session has not made it lead there.
func (v view) open(old *tree) *tree {
	to, err := v.follow(old.path)
	if err != nil || to.passed || !to.info.IsDir() || old.root != nil && os.SameFile(old.info, to.info) {
		return old
	}
	root, err := os.OpenRoot(to.path + asDir)
	if err != nil {
		return old
	}
	info, err := root.Stat(".")
	if err != nil || !os.SameFile(info, to.info) {
		root.Close()
		return old
	}
	return &tree{old.path, old.code, to.path, root, info}
}

// view returns the trees as they are now, with dirs among them.
func (t *Trees) view(dirs ...string) view {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.add(dirs, false)
	return view{slices.Clone(t.trees), t.mayRead}
}

// view keeps the state of Trees at one time.
type view struct {
	trees   []*tree
	mayRead func(path string) bool
}

// place is where a path leads when all links are followed.
type place struct {
	tree   *tree       // nil: it is outside of all
	name   string      // in the tree
	path   string      // without links
	info   fs.FileInfo // as of Lstat, and of no link
	rest   []string    // what is not there of the path, with an error that is fs.ErrNotExist
	passed bool        // the way led through a tree in which code may write
}

var errLinks = errors.New("too many links")

// maxLinks limits the links that are followed for one path.
const maxLinks = 100

// follow goes along path, which is absolute, from the root of the file system, and through the open
// directory of each tree that it comes to.
func (v view) follow(path string) (place, error) {
	at := top(path)
	rest := parts(path)
	for links := 0; len(rest) > 0; {
		part := rest[0]
		if part == ".." {
			if v.hidden(at) {
				return at, notThere(path)
			}
			at, rest = at.parent(), rest[1:]
			continue
		}
		next := at.below(part)
		var err error
		if next.info, err = next.lstat(); err != nil {
			at.rest = rest
			return at, err
		}
		rest = rest[1:]
		if next.info.Mode()&fs.ModeSymlink == 0 {
			at = v.enter(next)
			continue
		}
		if v.hidden(next) {
			return next, notThere(path)
		}
		to, err := next.readlink()
		if links++; err == nil && links > maxLinks {
			err = &fs.PathError{Op: "open", Path: path, Err: errLinks}
		}
		if err != nil {
			return at, err
		}
		if filepath.IsAbs(to) {
			passed := at.passed
			at = top(to)
			at.passed = passed
		}
		rest = append(parts(to), rest...)
	}
	if at.info == nil { // the root itself, or what .. leads to
		var err error
		if at.info, err = at.lstat(); err != nil {
			return at, err
		}
		at = v.enter(at)
	}
	return at, nil
}

// hidden reports whether links that code may have made have led to p, outside of all trees, where the
// image may not read: then nothing may show whether it is there. The directories above a tree are
// known to be there.
func (v view) hidden(p place) bool {
	return v.mayRead != nil && p.passed && p.tree == nil && !v.mayRead(p.path) &&
		!slices.ContainsFunc(v.trees, func(t *tree) bool { return below(p.path, t.path) || below(p.path, t.real) })
}

// enter returns next as a place in the tree whose directory it is, if it is one's. In a tree in which
// code may write it stays.
func (v view) enter(next place) place {
	if !next.info.IsDir() {
		return next
	}
	for _, tree := range v.trees {
		if next.tree != nil && (next.tree.code || !tree.code) {
			continue
		}
		if tree.root != nil && os.SameFile(tree.info, next.info) {
			next.tree, next.name, next.passed = tree, ".", next.passed || tree.code
		}
	}
	return next
}

// top is the root of the file system.
func top(path string) place {
	return place{path: filepath.VolumeName(path) + string(filepath.Separator)}
}

// parts are the names in path, without its volume.
func parts(path string) []string {
	path = filepath.ToSlash(path[len(filepath.VolumeName(path)):])
	return slices.DeleteFunc(strings.Split(path, "/"), func(part string) bool { return part == "" || part == "." })
}

func (p place) below(part string) place {
	p.path, p.info = filepath.Join(p.path, part), nil
	if p.tree != nil {
		p.name = filepath.Join(p.name, part)
	}
	return p
}

func (p place) parent() place {
	p.path, p.info = filepath.Dir(p.path), nil
	if p.tree != nil && p.name == "." {
		p.tree, p.name = nil, ""
	} else if p.tree != nil {
		p.name = filepath.Dir(p.name)
	}
	return p
}

func (p place) lstat() (fs.FileInfo, error) {
	if p.tree != nil {
		return p.tree.root.Lstat(p.name)
	}
	return os.Lstat(p.path)
}

func (p place) readlink() (string, error) {
	if p.tree != nil {
		return p.tree.root.Readlink(p.name)
	}
	return os.Readlink(p.path)
}
