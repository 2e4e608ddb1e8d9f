package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"swank-mcp/e2e/wire"
)

// library is a system of Debian's, in the directory of its source.
type library struct{ name, dir string }

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

// loads reports whether a plain SBCL loads the copy of lib, and then evaluates the forms more.
func (l lab) loads(lib library, project string, more ...string) (bool, error) {
	forms := append([]string{`(require :asdf)`, `(setf *debugger-hook* (lambda (c h) (declare (ignore c h)) (sb-ext:exit :code 1 :abort t)))`,
		// the registry has the original, too
		fmt.Sprintf(`(push (uiop:ensure-directory-pathname %q) asdf:*central-registry*)`, project),
		fmt.Sprintf(`(asdf:load-system %q)`, lib.name)}, more...)
	out, err := l.plainFor(l.limit, project, append(forms, `(format t "~&`+endMark+`~%")`))
	return strings.Contains(out, endMark), err
}

var (
	// claims are the lines of a reply that name a difference between image and files.
	claims = regexp.MustCompile(`(?m)^(?:- .*|; .*(?:in the image only|of an evaluation|project-status|earlier|Not defined again|has changed since|not in the image|keeps the value).*)$`)
	// clean is the reply of project-status that names none.
	clean = regexp.MustCompile(`^What is loaded is what is on disk: .*, ([\d,]+) files?, ([\d,]+) definitions?\.$`)
)

// visit is a session in the copy of a library.
type visit struct {
	*wire.Client
	ctx   context.Context
	limit time.Duration
	name  string
}

// inCopy calls do with a session whose project is the copy of lib. The limit of l bounds it.
func (l lab) inCopy(lib library, project string, do func(v visit) error) error {
	seconds := strconv.Itoa(int(l.limit.Seconds()))
	c, err := wire.Start(wire.Options{Env: l.env("session", project), Dir: project, NoRecord: true}, l.binary, "--no-userinit", "--toolsets", "all", "--max-timeout", seconds)
	if err != nil {
		return err
	}
	defer c.Close(10 * time.Second)
	ctx, stop := context.WithTimeout(context.Background(), l.limit)
	defer stop()
	if _, err := c.Open(ctx); err != nil {
		return fmt.Errorf("%w\n%s", err, c.Said())
	}
	return do(visit{c, ctx, l.limit, lib.name})
}

// call calls a tool. An error of its own is in the reply.
func (v visit) call(tool string, args map[string]any) (wire.Result, error) {
	args["timeout"] = int(v.limit.Seconds())
	r, err := v.Tool(v.ctx, tool, args)
	if err != nil {
		return r, fmt.Errorf("%s: %w\n%s", tool, err, v.Said())
	}
	return r, nil
}

// load loads the library and returns the lines that name a difference, or the error that the
// reply is, and whether it is one.
func (v visit) load(force bool) (lines []string, failed bool, err error) {
	r, err := v.call("load-system", map[string]any{"system": v.name, "force": force})
	if err == nil && r.IsError {
		return []string{firstLine(r.Text())}, true, nil
	}
	return claims.FindAllString(r.Text(), -1), false, err
}

func loadByForce(lib library) string { return fmt.Sprintf(`(asdf:load-system %q :force t)`, lib.name) }

// loadAgain loads lib by force and returns what [visit.load] does; nothing if that fails as it does in a
// plain SBCL.
func (l lab) loadAgain(v visit, lib library, project string) ([]string, error) {
	lines, failed, err := v.load(true)
	if err != nil || !failed {
		return lines, err
	}
	ok, err := l.loads(lib, project, loadByForce(lib))
	if err != nil || !ok {
		return nil, err
	}
	return lines, nil
}

// status returns what project-status tells: the lines that name a difference.
func (v visit) status() (lines []string, files, definitions string, err error) {
	r, err := v.call("project-status", map[string]any{})
	if err != nil {
		return nil, "", "", err
	}
	if m := clean.FindStringSubmatch(r.Text()); m != nil {
		return nil, m[1], m[2], nil
	}
	for line := range strings.Lines(r.Text()) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "What else") {
			lines = append(lines, line)
		}
	}
	if lines == nil {
		lines = []string{firstLine(r.Text())}
	}
	return lines, "", "", nil
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// leaveAlone takes the copy of lib as the project, does what changes nothing, and enters into o
// what is claimed after each step.
func (l lab) leaveAlone(lib library, project string, o *outcome) error {
	return l.inCopy(lib, project, func(v visit) error {
		told := func(step string, lines []string) {
			for _, line := range lines {
				o.Claimed = append(o.Claimed, step+": "+line)
			}
		}
		for _, step := range []string{"load-system", "load-system with force", "run-tests"} {
			var lines []string
			var err error
			switch step {
			case "load-system":
				lines, _, err = v.load(false)
			case "run-tests":
				var r wire.Result
				r, err = v.call(step, map[string]any{"system": lib.name})
				lines = claims.FindAllString(r.Text(), -1)
			default:
				lines, err = l.loadAgain(v, lib, project)
			}
			if err != nil {
				return err
			}
			told(step, lines)
			lines, files, definitions, err := v.status()
			if err != nil {
				return err
			}
			told("project-status after "+step, lines)
			if o.Files == "" {
				o.Files, o.Definitions = files, definitions
			}
		}
		return nil
	})
}

// visitLibrary makes the outcome of one library.
func (l lab) visitLibrary(lib library, edits bool) (*outcome, error) {
	o := &outcome{Library: lib.name}
	project, err := l.copied(lib)
	if err != nil {
		return nil, err
	}
	switch ok, err := l.loads(lib, project); {
	case errors.Is(err, context.DeadlineExceeded):
		o.Ended = l.notEnded() + " in plain SBCL"
		return o, nil
	case err != nil:
		return nil, err
	case !ok:
		o.Ended = noPlain
		return o, nil
	}
	if err := l.leaveAlone(lib, project, o); errors.Is(err, context.DeadlineExceeded) {
		o.Ended = l.notEnded() + ": " + strings.TrimSuffix(firstLine(err.Error()), ": "+context.DeadlineExceeded.Error())
	} else if err != nil {
		return nil, err
	}
	if edits {
		o.Edits, err = l.editAll(lib, project)
	}
	return o, err
}

// notEnded names the limit that something has reached.
func (l lab) notEnded() string {
	return fmt.Sprintf("not ended in %s", strings.TrimSuffix(strings.Replace(l.limit.String(), "m0s", " minutes", 1), "0s"))
}

// untouchedLibraries visits each library of which there is no outcome of this build yet, and
// prints it; the error is that something was claimed that is not so.
func (l lab) untouchedLibraries(only *regexp.Regexp, edits bool, page string) error {
	if err := l.fetchAll(); err != nil {
		return err
	}
	libs, err := l.libraries(regexp.MustCompile(""))
	if err != nil {
		return err
	}
	rec, err := l.record(edits)
	if err != nil {
		return err
	}
	defer rec.Close()
	var failed error
	for _, lib := range libs {
		if rec.of(lib.name) != nil || !only.MatchString(lib.name) {
			continue
		}
		o, err := l.visitLibrary(lib, edits)
		if err != nil { // what could not be run is run the next time; the others are
			failed = errors.Join(failed, fmt.Errorf("%s: %w", lib.name, err))
			continue
		}
		if err := rec.add(o); err != nil {
			return err
		}
		fmt.Print(o)
	}
	wrong, missing := 0, 0
	for _, lib := range libs {
		switch o := rec.of(lib.name); {
		case o == nil:
			missing++
		case o.wrong():
			wrong++
		}
	}
	fmt.Printf("%d of %d libraries, of %d something wrong is said\n", len(libs)-missing, len(libs), wrong)
	switch {
	case failed != nil:
		return failed
	case page != "" && missing > 0:
		return fmt.Errorf("%s is written when all have an outcome", page)
	case page != "":
		if err := writeInto(page, "libraries", rec.section(libs)); err != nil {
			return err
		}
	}
	if wrong > 0 {
		return errDiffer
	}
	return nil
}
