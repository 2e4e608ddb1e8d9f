package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// system is one of Debian's Lisp systems with tests; more are packages that its tests
// want and that its own package only suggests.
type system struct {
	name, debian string
	more         []string
	countsOnly   bool   // it tells on *DEBUG-IO* what it does, which a session leaves out
	load         string // form that loads its tests, where ASDF's TEST-OP does not run them,
	test         string // and form that runs these; run-tests has nothing to run then
}

// registry tells ASDF of what was fetched, and of nothing else.
func (l lab) registry() string {
	return fmt.Sprintf(`CL_SOURCE_REGISTRY=(:source-registry (:tree %q) :ignore-inherited-configuration)`,
		filepath.Join(l.dir, "debian", "usr", "share", "common-lisp", "source")+"/")
}

// fetch gets the packages of all systems, and what these depend on, into l.dir: they
// are unpacked there and not installed, so that nothing else changes. An ASDF is not
// among them: each Lisp would replace its own by it.
func (l lab) fetch(systems []system) error {
	var names []string
	for _, s := range systems {
		names = append(append(names, s.debian), s.more...)
	}
	out, err := apt("", "apt-cache", append(strings.Fields("depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances"), names...)...)
	if err != nil {
		return err
	}
	names = names[:0]
	for line := range strings.Lines(out) {
		if name := strings.TrimSpace(line); strings.HasPrefix(line, "cl-") && name != "cl-asdf" && name != "cl-swank" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	root, there := filepath.Join(l.dir, "debian"), filepath.Join(l.dir, "debian.list")
	list := strings.Join(names, "\n") + "\n"
	if data, err := os.ReadFile(there); err == nil && string(data) == list {
		return nil
	}
	debs, err := os.MkdirTemp(l.dir, "debs-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(debs)
	if _, err := apt(debs, "apt-get", append([]string{"download", "-q"}, names...)...); err != nil {
		return fmt.Errorf("%w\nif packages are not found: apt-get update", err)
	}
	files, err := filepath.Glob(filepath.Join(debs, "*.deb"))
	if err != nil {
		return err
	}
	for _, file := range files {
		if _, err := apt("", "dpkg", "-x", file, root); err != nil {
			return err
		}
	}
	return os.WriteFile(there, []byte(list), 0o644)
}

// apt runs a program of Debian's in dir.
func apt(dir, program string, args ...string) (string, error) {
	cmd := exec.Command(program, args...)
	var stderr bytes.Buffer
	cmd.Dir, cmd.Stderr = dir, &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s %s: %w\n%s", program, strings.Join(args, " "), err, stderr.String())
	}
	return string(out), err
}
