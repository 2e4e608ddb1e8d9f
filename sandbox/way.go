package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// outermost returns the paths of directories that lie in no other one. Of two that lead through each
// other, because one leads out of the other again, that one lies in the other.
func outermost(paths []string) (out []string) {
	for _, path := range paths {
		isInner := slices.ContainsFunc(paths, func(other string) bool {
			return other != path && leadsThrough(path, stats(other)) && !(leadsThrough(other, stats(path)) && within(real(path), real(other)))
		})
		if !isInner {
			out = append(out, path)
		}
	}
	return out
}

func stats(paths ...string) (infos []fs.FileInfo) {
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil {
			infos = append(infos, info)
		}
	}
	return infos
}

// leadsThrough reports whether path leads through one of dirs, in which code of a session may write: it
// could be a link by now that such code has made. So neither its name tells that, nor where it leads, but
// the directories on its way.
func leadsThrough(path string, dirs []fs.FileInfo) bool {
	way, err := onTheWay(path)
	return err != nil || slices.ContainsFunc(way, func(s step) bool { return s.isIn(dirs) })
}

// linksTo returns the links on the way to path up to the first of dirs.
func linksTo(path string, dirs []fs.FileInfo) (links []link) {
	way, _ := onTheWay(path)
	for _, s := range way {
		if s.isIn(dirs) {
			break
		}
		if s.link.Path != "" {
			links = append(links, s.link)
		}
	}
	return links
}

// step is a directory through which a path leads, and the link in it that is followed, or none.
type step struct {
	dir  fs.FileInfo
	link link
}

// link is a symbolic link, in a directory whose path has none.
type link struct{ Path, To string }

func (s step) isIn(dirs []fs.FileInfo) bool {
	return slices.ContainsFunc(dirs, func(dir fs.FileInfo) bool { return os.SameFile(s.dir, dir) })
}

// maxLinks limits the links that are followed for one path.
const maxLinks = 40

// onTheWay returns the directories through which path, absolute, leads when all links are followed, but for
// the one at its end.
func onTheWay(path string) (way []step, err error) {
	at, rest := "/", strings.Split(path, "/")
	for links := 0; len(rest) > 0; {
		part := rest[0]
		rest = rest[1:]
		if part == "" || part == "." {
			continue
		}
		dir, err := os.Lstat(at)
		if err != nil {
			return nil, err
		}
		next := filepath.Join(at, part) // at has no links, so .. is above it
		to, err := os.Readlink(next)
		if err != nil { // it is no link, or not there
			way, at = append(way, step{dir: dir}), next
			continue
		}
		if links++; links > maxLinks {
			return nil, &fs.PathError{Op: "open", Path: path, Err: errors.New("too many links")}
		}
		way = append(way, step{dir, link{next, to}})
		if filepath.IsAbs(to) {
			at = "/"
		}
		rest = append(strings.Split(to, "/"), rest...)
	}
	return way, nil
}
