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

// Find looks for definitions in dirs, which are absolute. A directory that cannot be
// read has none. It ends early, with Cut set, when ctx does.
func Find(ctx context.Context, dirs ...string) *Project {
	p := &Project{Dirs: dirs}
	for _, dir := range dirs {
		own := search{ctx: ctx, left: maxEntries, skip: leftOutIn(dir), types: definitions}
		own.walk(dir)
		p.Definitions = append(p.Definitions, own.found()...)
		p.Cut = p.Cut || own.cut
		p.dependencies(ctx, dir)
	}
	return p
}

// dependencies adds what the managers of dependencies keep in dir.
func (p *Project) dependencies(ctx context.Context, dir string) {
	if exists(filepath.Join(dir, "qlfile")) {
		p.Managers = append(p.Managers, "Qlot")
		kept := search{ctx: ctx, left: maxEntries, types: definitions}
		kept.walk(filepath.Join(dir, ".qlot", "dists"))
		p.Dependencies = append(p.Dependencies, kept.found()...)
		p.Cut = p.Cut || kept.cut
	}
	if list, err := read(dir, ocicl); err == nil {
		p.Managers = append(p.Managers, "ocicl")
		p.Dependencies = append(p.Dependencies, listed(dir, string(list))...)
	}
}

const ocicl = "ocicl.csv"

// maxFile limits the bytes of a file that the bridge reads: a project may come from anywhere.
const maxFile = 1 << 20

// read returns what is in the file of that name in dir, or in a folder of dir. It fails for a
// link out of dir, for what is no file, and for a file of more than maxFile bytes.
func read(dir, name string) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	text, err := files.ReadIn(root, name, maxFile)
	if errors.Is(err, files.ErrTooLarge) {
		err = fmt.Errorf("%s has more than %d bytes, and is not read", filepath.Join(dir, name), maxFile)
	}
	return text, err
}

// ocicls are the folders in which ocicl keeps dependencies; older versions use the second.
var ocicls = []string{"ocicl", "systems"}

// listed returns the definitions that the lines of an ocicl.csv name: the system, where
// it was had from, and the definition's path in the folder of dependencies.
func listed(dir, list string) (files []string) {
	for line := range strings.Lines(list) {
		fields := strings.Split(line, ",")
		if len(fields) != 3 {
			continue
		}
		path := filepath.FromSlash(strings.TrimSpace(fields[2]))
		for _, folder := range ocicls {
			if file := filepath.Join(dir, folder, path); filepath.IsLocal(path) && exists(file) {
				files = append(files, file)
				break
			}
		}
	}
	return files
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// leftOutIn is LeftOut in the project at dir.
func leftOutIn(dir string) func(name string) bool {
	if !exists(filepath.Join(dir, ocicl)) {
		return LeftOut
	}
	return func(name string) bool { return LeftOut(name) || slices.Contains(ocicls, name) }
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
func (p *Project) LispFiles(ctx context.Context) (files []string) {
	for _, dir := range p.Dirs {
		own := search{ctx: ctx, left: maxEntries, skip: leftOutIn(dir), types: []string{".lisp", ".lsp", ".cl"}}
		own.walk(dir)
		files = append(files, own.files...)
	}
	return files
}

// Folders returns dir, which is absolute, and the folders below it that [Find] looks at.
func Folders(ctx context.Context, dir string) []string {
	s := search{ctx: ctx, left: maxEntries, skip: LeftOut}
	s.walk(dir)
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

func (s *search) walk(dir string) {
	level := []string{dir}
	for depth := 0; len(level) > 0; depth++ {
		if depth == maxDepth {
			s.cut = true
			return
		}
		var next []string
		for _, dir := range level {
			entries, err := files.List(dir, s.left)
			if errors.Is(err, files.ErrTooLarge) || s.ctx.Err() != nil {
				s.cut = true
				return
			}
			if err != nil {
				continue
			}
			s.left -= len(entries)
			s.folders = append(s.folders, dir)
			for _, e := range entries {
				next = s.look(dir, e, next)
			}
		}
		level = next
	}
}

// look takes one entry of dir; it appends the folders that are to be looked at to next.
// Links to folders are not followed: they may lead out, or around.
func (s *search) look(dir string, e fs.DirEntry, next []string) []string {
	path := filepath.Join(dir, e.Name())
	switch {
	case e.IsDir():
		if s.skip == nil || !s.skip(e.Name()) {
			next = append(next, path)
		}
	case slices.Contains(s.types, filepath.Ext(e.Name())) && filepath.Ext(e.Name()) != e.Name():
		s.files = append(s.files, path)
	}
	return next
}

// found returns the definitions, of those with one name the first.
func (s *search) found() (files []string) {
	seen := make(map[string]bool)
	for _, file := range s.files {
		if name := systemName(file); !seen[name] {
			seen[name] = true
			files = append(files, file)
		}
	}
	return files
}
