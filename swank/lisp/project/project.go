package project

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"swank-mcp/internal/files"
)

// What is looked at of a project, at most. A directory that has more is no project but
// a place where projects are; what was found by then counts.
const (
	maxEntries = 20_000
	maxDepth   = 12
)

// Project is what was found. The zero value is no project.
type Project struct {
	Dirs         []string // where it was looked for, absolute
	Definitions  []string // absolute paths of the *.asd files of the project itself
	Dependencies []string // the same of what Qlot or ocicl keep for it
	Managers     []string // "Qlot", "ocicl": who keeps them
	Cut          bool     // there was more than was looked at

	trees *files.Trees
}

// Systems returns the primary names of the project's own systems, sorted.
func (p *Project) Systems() []string {
	var names []string
	for _, file := range p.Definitions {
		names = append(names, systemName(file))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Files returns the definitions in the order in which a name is looked for: the
// project's own first, of two with one name the one nearer to the top.
func (p *Project) Files() []string { return slices.Concat(p.Definitions, p.Dependencies) }

// Equal reports whether an image that knows p knows q.
func (p *Project) Equal(q *Project) bool {
	return slices.Equal(p.Dirs, q.Dirs) && slices.Equal(p.Files(), q.Files())
}

// systemName is the name of the system that file is called after.
func systemName(file string) string {
	return strings.TrimSuffix(filepath.Base(file), ".asd")
}

// Find looks for definitions in dirs, which are absolute, through trees; nil are those of dirs alone.
// A directory that cannot be read has none. It ends early, with Cut set, when ctx does.
func Find(ctx context.Context, trees *files.Trees, dirs ...string) *Project {
	p := &Project{Dirs: dirs, trees: orNew(trees)}
	p.trees.Add(dirs...)
	for _, dir := range dirs {
		at, err := p.open(dir)
		if err != nil {
			continue
		}
		own := search{ctx: ctx, left: maxEntries, skip: at.leftOut(), types: definitions}
		own.walk(at)
		p.Definitions = append(p.Definitions, own.found()...)
		p.Cut = p.Cut || own.cut
		p.dependencies(ctx, at)
		at.root.Close()
	}
	return p
}

func orNew(trees *files.Trees) *files.Trees {
	if trees == nil {
		return &files.Trees{}
	}
	return trees
}

// folder is a directory that is open.
type folder struct {
	trees *files.Trees
	path  string
	root  *os.Root
}

func (p *Project) open(dir string) (*folder, error) { return open(orNew(p.trees), dir) }

func open(trees *files.Trees, dir string) (*folder, error) {
	root, err := trees.Look(dir)
	return &folder{trees, dir, root}, err
}

// exists reports whether there is something of that name, or where a link of that name leads.
func (f *folder) exists(name string) bool {
	_, err := f.root.Stat(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // a link may lead elsewhere
		_, err = f.trees.Stat(filepath.Join(f.path, name))
	}
	return err == nil
}

// dependencies adds what the managers of dependencies keep in the folder.
func (p *Project) dependencies(ctx context.Context, at *folder) {
	if at.exists("qlfile") {
		p.Managers = append(p.Managers, "Qlot")
		if dists, err := p.open(filepath.Join(at.path, ".qlot", "dists")); err == nil {
			kept := search{ctx: ctx, left: maxEntries, types: definitions}
			kept.walk(dists)
			p.Dependencies = append(p.Dependencies, kept.found()...)
			p.Cut = p.Cut || kept.cut
			dists.root.Close()
		}
	}
	if list, err := at.read(ocicl); err == nil {
		p.Managers = append(p.Managers, "ocicl")
		p.Dependencies = append(p.Dependencies, at.listed(string(list))...)
	}
}

const ocicl = "ocicl.csv"

// maxFile limits the bytes of a file that the bridge reads: a project may come from anywhere.
const maxFile = 1 << 20

// read returns what is in the file of that name. It fails for a link out of the folder, for what is
// no file, and for a file of more than maxFile bytes.
func (f *folder) read(name string) ([]byte, error) {
	text, err := files.ReadIn(f.root, name, maxFile)
	if errors.Is(err, files.ErrTooLarge) {
		err = fmt.Errorf("%s has more than %d bytes, and is not read", filepath.Join(f.path, name), maxFile)
	}
	return text, err
}

// ocicls are the folders in which ocicl keeps dependencies; older versions use the second.
var ocicls = []string{"ocicl", "systems"}

// listed returns the definitions that the lines of an ocicl.csv name: the system, where
// it was had from, and the definition's path in the folder of dependencies.
func (f *folder) listed(list string) (there []string) {
	for line := range strings.Lines(list) {
		fields := strings.Split(line, ",")
		if len(fields) != 3 {
			continue
		}
		path := filepath.FromSlash(strings.TrimSpace(fields[2]))
		for _, folder := range ocicls {
			if name := filepath.Join(folder, path); filepath.IsLocal(path) && f.exists(name) {
				there = append(there, filepath.Join(f.path, name))
				break
			}
		}
	}
	return there
}

// leftOut is LeftOut in the project at the folder.
func (f *folder) leftOut() func(name string) bool {
	if !f.exists(ocicl) {
		return LeftOut
	}
	return func(name string) bool { return LeftOut(name) || slices.Contains(ocicls, name) }
}

// sources is how the names of files of source end that define no systems.
var sources = []string{".lisp", ".lsp", ".cl"}

// SourceTypes returns how the names of files of source end.
func SourceTypes() []string { return slices.Concat(definitions, sources) }

// IsSource reports whether a file of that path is called as Lisp source is.
func IsSource(path string) bool {
	return slices.Contains(SourceTypes(), strings.ToLower(filepath.Ext(path)))
}

// LeftOut reports whether a folder of that name has nothing of the project itself:
// hidden ones, such as .git and .qlot, dependencies, and what is built.
func LeftOut(name string) bool {
	switch name {
	case "node_modules", "build", "_build", "dist", "target":
		return true
	}
	return strings.HasPrefix(name, ".")
}

// LispFiles returns the paths of the project's own files of source, those nearer to the
// top first. It ends early when ctx does.
func (p *Project) LispFiles(ctx context.Context) (found []string) {
	for _, dir := range p.Dirs {
		at, err := p.open(dir)
		if err != nil {
			continue
		}
		own := search{ctx: ctx, left: maxEntries, skip: at.leftOut(), types: sources}
		own.walk(at)
		found = append(found, own.files...)
		at.root.Close()
	}
	return found
}

// Folders returns dir, which is absolute, and the folders below it that [Find] looks at, through
// trees as Find does.
func Folders(ctx context.Context, trees *files.Trees, dir string) []string {
	at, err := open(orNew(trees), dir)
	if err != nil {
		return nil
	}
	defer at.root.Close()
	s := search{ctx: ctx, left: maxEntries, skip: LeftOut}
	s.walk(at)
	return s.folders
}

// search goes through one directory, level by level, so that a limit leaves out what
// lies deepest.
type search struct {
	ctx   context.Context
	left  int               // entries that may still be looked at
	skip  func(string) bool // folders left out; nil leaves out none
	types []string          // how the names of the files end
	cut   bool

	files   []string
	folders []string // those that were looked at
}

// definitions is how the names of files end that define systems.
var definitions = []string{".asd"}

func (s *search) walk(at *folder) {
	level := []string{"."}
	for depth := 0; len(level) > 0; depth++ {
		if depth == maxDepth {
			s.cut = true
			return
		}
		var next []string
		for _, name := range level {
			entries, err := files.ListIn(at.root, name, s.left)
			if errors.Is(err, files.ErrTooLarge) || s.ctx.Err() != nil {
				s.cut = true
				return
			}
			if err != nil {
				continue
			}
			s.left -= len(entries)
			s.folders = append(s.folders, filepath.Join(at.path, name))
			for _, e := range entries {
				next = s.look(at, name, e, next)
			}
		}
		level = next
	}
}

// look takes one entry of the folder of that name; it appends the names of folders that are to be
// looked at to next. Links to folders are not followed: they may lead out, or around.
func (s *search) look(at *folder, in string, e fs.DirEntry, next []string) []string {
	name := filepath.Join(in, e.Name())
	switch {
	case e.IsDir():
		if s.skip == nil || !s.skip(e.Name()) {
			next = append(next, name)
		}
	case slices.Contains(s.types, filepath.Ext(e.Name())) && filepath.Ext(e.Name()) != e.Name():
		s.files = append(s.files, filepath.Join(at.path, name))
	}
	return next
}

// found returns the definitions, of those with one name the first.
func (s *search) found() (first []string) {
	seen := make(map[string]bool)
	for _, file := range s.files {
		if name := systemName(file); !seen[name] {
			seen[name] = true
			first = append(first, file)
		}
	}
	return first
}
