package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ansiMode is a way in which the suite runs its tests.
type ansiMode struct {
	name    string
	compile string // the suite's *COMPILE-TESTS*
}

var ansiModes = []ansiMode{{"ANSI tests, evaluated", "nil"}, {"ANSI tests, compiled", "t"}}

// forms run the suite, as its doit.lsp does, and write what has failed. Some tests
// take random numbers: both Lisps get the same.
func (m ansiMode) forms() []string {
	return []string{
		`(load "gclload1.lsp")`,
		`(load "gclload2.lsp")`,
		`(in-package :cl-test)`,
		`(setf rt::*compile-tests* ` + m.compile + `)`,
		`(setf *default-pathname-defaults* (truename #P"sandbox/"))`,
		`(setf *random-state* (sb-ext:seed-random-state 7))`,
		`(regression-test:do-tests)`,
		`(with-open-file (out "../failed.txt" :direction :output :if-exists :supersede)
		   (let ((*print-pretty* nil))
		     (format out "~D~%~{~S~%~}" (length (rest rt::*entries*)) (rt:pending-tests))))`,
	}
}

func (l lab) runANSI(suite string, m ansiMode) (row, error) {
	one := func(lisp string, run func(dir string, forms []string) (string, error)) (answer, error) {
		dir, err := l.work("ansi-" + lisp)
		if err != nil {
			return answer{}, err
		}
		if err := os.CopyFS(dir, os.DirFS(suite)); err != nil {
			return answer{}, err
		}
		out, err := run(dir, m.forms())
		if err != nil {
			return answer{}, fmt.Errorf("%s in %s: %w", m.name, lisp, err)
		}
		data, err := os.ReadFile(filepath.Join(dir, "failed.txt"))
		if err != nil {
			return answer{}, fmt.Errorf("%s did not come to its end in %s: %w\n%.2000s", m.name, lisp, err, out[max(0, len(out)-2000):])
		}
		lines := strings.Split(strings.TrimSpace(string(data)), "\n")
		slices.Sort(lines[1:])
		return answer{outcome: "returned", counts: fmt.Sprintf("%s tests, %d failed", lines[0], len(lines)-1), said: lines}, nil
	}
	r := row{suite: m.name, how: "evaluate-lisp"}
	var err error
	r.plain, r.session, err = both(func() (answer, error) { return one("plain", l.plain) },
		func() (answer, error) { return one("session", l.evaluate) })
	return r, err
}
