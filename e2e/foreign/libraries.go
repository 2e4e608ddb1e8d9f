package main

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"swank-mcp/e2e/wire"
)

// library is a system of Debian's, in the directory of its source.
type library struct{ name, dir string }

// untouched holds what a session has said of a library that was copied, taken as the
// project, loaded, and not touched: after each step the lines that name a difference.
type untouched struct {
	library
	steps []told
}

type told struct {
	step  string
	lines []string
}

// fetchAll gets all of Debian's Lisp libraries.
func (l lab) fetchAll() error {
	out, err := apt("", "apt-cache", "pkgnames", "cl-")
	if err != nil {
		return err
	}
	var all []system
	for _, name := range strings.Fields(out) {
		all = append(all, system{debian: name})
	}
	slices.SortFunc(all, func(a, b system) int { return cmp.Compare(a.debian, b.debian) })
	return l.fetch(all)
}

// libraries returns each library whose directory defines a system of its name, with or without
// "cl-".
func (l lab) libraries(only *regexp.Regexp) (found []library, err error) {
	source := filepath.Join(l.dir, "debian", "usr", "share", "common-lisp", "source")
	dirs, err := os.ReadDir(source)
	if err != nil {
		return nil, err
	}
	for _, dir := range dirs {
		for _, name := range []string{dir.Name(), "cl-" + dir.Name(), strings.TrimPrefix(dir.Name(), "cl-")} {
			if _, err := os.Stat(filepath.Join(source, dir.Name(), name+".asd")); err == nil && only.MatchString(name) {
				found = append(found, library{name, filepath.Join(source, dir.Name())})
				break
			}
		}
	}
	return found, nil
}

// copied copies the source of lib into a directory of its own, in which both Lisps work.
func (l lab) copied(lib library) (string, error) {
	dir, err := l.work("library")
	if err != nil {
		return "", err
	}
	project := filepath.Join(dir, filepath.Base(lib.dir))
	out, err := exec.Command("cp", "-rL", lib.dir, project).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return project, filepath.WalkDir(project, func(path string, _ fs.DirEntry, err error) error {
		if err == nil {
			err = os.Chmod(path, 0o755)
		}
		return err
	})
}

// loads reports whether a plain SBCL loads the copy of lib.
func (l lab) loads(lib library, project string) (bool, error) {
	out, err := l.plain(project, []string{`(require :asdf)`, `(setf *debugger-hook* (lambda (c h) (declare (ignore c h)) (sb-ext:exit :code 1 :abort t)))`,
		fmt.Sprintf(`(asdf:load-asd %q)`, filepath.Join(project, lib.name+".asd")),
		fmt.Sprintf(`(asdf:load-system %q)`, lib.name), `(format t "~&` + endMark + `~%")`})
	return strings.Contains(out, endMark), err
}

// claims are the lines of a reply that name a difference between image and files.
var claims = regexp.MustCompile(`(?m)^(?:- .*|; .*(?:in the image only|of an evaluation|project-status|earlier|Not defined again|has changed since|not in the image|keeps the value).*)$`)

// libraryLimit bounds all that is done with one library.
const libraryLimit = 5 * time.Minute

// leaveAlone takes the copy of lib as the project and does what changes nothing.
func (l lab) leaveAlone(lib library, project string) (u untouched, err error) {
	u.library = lib
	c, err := wire.Start(wire.Options{Env: l.env("session", project), Dir: project, NoRecord: true}, l.binary, "--no-userinit", "--toolsets", "all")
	if err != nil {
		return u, err
	}
	defer c.Close(10 * time.Second)
	ctx, stop := context.WithTimeout(context.Background(), libraryLimit)
	defer stop()
	if _, err := c.Open(ctx); err != nil {
		return u, fmt.Errorf("%w\n%s", err, c.Said())
	}
	load := map[string]any{"system": lib.name, "timeout": 60}
	for _, step := range []struct {
		tool string
		args map[string]any
	}{
		{"load-system", load},
		{"project-status", map[string]any{"timeout": 60}},
		{"load-system", map[string]any{"system": lib.name, "timeout": 60, "force": true}},
		{"project-status", map[string]any{"timeout": 60}},
		{"run-tests", load},
		{"project-status", map[string]any{"timeout": 60}},
	} {
		r, err := c.Tool(ctx, step.tool, step.args)
		if err != nil {
			return u, fmt.Errorf("%s: %w\n%s", step.tool, err, c.Said())
		}
		u.steps = append(u.steps, told{step.tool, claims.FindAllString(r.Text(), -1)})
	}
	return u, nil
}

// claimed counts the lines of u.
func (u untouched) claimed() (n int) {
	for _, t := range u.steps {
		n += len(t.lines)
	}
	return n
}

// untouchedLibraries prints a line for each library, and what was said of those that were
// not touched; the error is that something was.
func (l lab) untouchedLibraries(only *regexp.Regexp) error {
	if err := l.fetchAll(); err != nil {
		return err
	}
	libs, err := l.libraries(only)
	if err != nil {
		return err
	}
	clean, wrong := 0, 0
	for _, lib := range libs {
		project, err := l.copied(lib)
		if err != nil {
			return fmt.Errorf("%s: %w", lib.name, err)
		}
		switch ok, err := l.loads(lib, project); {
		case err != nil:
			return fmt.Errorf("%s: %w", lib.name, err)
		case !ok:
			fmt.Printf("%s: does not load in plain SBCL\n", lib.name)
			continue
		}
		u, err := l.leaveAlone(lib, project)
		if err != nil {
			wrong++
			fmt.Printf("%s: %v\n", lib.name, err)
			continue
		}
		if u.claimed() == 0 {
			clean++
			fmt.Printf("%s: nothing claimed\n", lib.name)
			continue
		}
		wrong++
		fmt.Printf("%s: %d lines\n", lib.name, u.claimed())
		for _, t := range u.steps {
			for _, line := range t.lines {
				fmt.Printf("  %s: %s\n", t.step, line)
			}
		}
	}
	fmt.Printf("%d libraries, of %d something claimed\n", clean+wrong, wrong)
	if wrong > 0 {
		return errDiffer
	}
	return nil
}
