// Command foreign runs other people's test suites in a session, through a built
// swank-mcp over MCP, and in a plain sbcl: the ANSI test suite, of which it is given
// a directory, and Debian's Lisp systems, which it fetches with apt-get. It prints
// what each answers beside the other and ends with 1 where they differ.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

var errDiffer = errors.New("a session differs from plain sbcl")

func main() {
	var o options
	flag.StringVar(&o.binary, "binary", "bin/swank-mcp", "the program to run")
	flag.StringVar(&o.ansi, "ansi", os.Getenv("ANSI_TEST"), "directory of the ANSI test suite; none: without it ($ANSI_TEST)")
	flag.StringVar(&o.dir, "dir", filepath.Join(os.TempDir(), "swank-mcp-foreign"), "where Debian's systems and fasls are kept from one run to the next")
	flag.StringVar(&o.only, "only", "", "only the suites whose name this regular expression matches")
	flag.StringVar(&o.write, "write", "", "put the table into this page, between <!-- foreign --> and <!-- /foreign -->; with -untouched, between <!-- libraries --> and <!-- /libraries -->")
	flag.BoolVar(&o.untouched, "untouched", false, "instead, what is said of Debian's libraries that are loaded and not touched; a run that was stopped goes on where it was")
	flag.BoolVar(&o.edits, "edits", false, "with -untouched: and what is said after an edit of each kind")
	flag.Uint64Var(&o.seed, "seed", 1, "with -edits: chooses what is edited")
	flag.DurationVar(&o.limit, "limit", 5*time.Minute, "with -untouched: bounds what is done with one library, and each edit")
	flag.BoolVar(&o.show, "show", false, "show what each suite has printed, where it differs")
	flag.Parse()
	if err := o.run(); err != nil {
		fmt.Fprintln(os.Stderr, "foreign:", err)
		os.Exit(1)
	}
}

type options struct {
	binary, ansi, dir, only, write string
	show, untouched, edits         bool
	seed                           uint64
	limit                          time.Duration
}

func (o *options) run() (err error) {
	if o.binary, err = filepath.Abs(o.binary); err != nil {
		return err
	}
	only, err := regexp.Compile(o.only)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(o.dir, 0o755); err != nil {
		return err
	}
	if o.dir, err = filepath.Abs(o.dir); err == nil {
		o.dir, err = filepath.EvalSymlinks(o.dir)
	}
	if err != nil {
		return err
	}
	l := lab{binary: o.binary, dir: o.dir, seed: o.seed, limit: o.limit}
	if o.untouched {
		return l.untouchedLibraries(only, o.edits, o.write)
	}
	var t table
	var failed error // what could not be run; the others are
	if o.ansi != "" {
		for _, mode := range ansiModes {
			if only.MatchString(mode.name) {
				r, err := l.runANSI(o.ansi, mode)
				if err != nil {
					failed = errors.Join(failed, err)
					continue
				}
				t.add(r)
			}
		}
	}
	var wanted []system
	for _, s := range systems {
		if only.MatchString(s.name) {
			wanted = append(wanted, s)
		}
	}
	if len(wanted) > 0 {
		if err := l.fetch(wanted); err != nil {
			return err
		}
	}
	for _, s := range wanted {
		rows, err := l.runSystem(s)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		for _, r := range rows {
			t.add(r)
		}
	}
	if failed != nil {
		return failed
	}
	if o.write != "" {
		if err := t.writeInto(o.write); err != nil {
			return err
		}
	}
	if t.differ > 0 {
		if o.show {
			t.showDifferences()
		}
		return fmt.Errorf("%w: %d of %d", errDiffer, t.differ, len(t.rows))
	}
	return nil
}
