package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A madeProject describes a system of generated files.
type madeProject struct {
	name      string
	files     int
	functions int     // in each file, of seven lines
	edited    float64 // the most ms that project-status may take after an edit
	judged    float64 // and again, without one
}

var madeProjects = []madeProject{
	{"small", 4, 10, 1000, 300},
	{"library", 40, 35, 3000, 300},
	{"files", 1000, 1, 0, 300},
}

// status measures project-status after one file of a project was edited, beside a plain SBCL that
// compiles that file and loads the project, and once more, when a fresh image has judged.
func (l lab) status(t *table, n int) error {
	for _, p := range madeProjects {
		if err := l.statusOf(t, p, n); err != nil {
			return fmt.Errorf("project %s: %w", p.name, err)
		}
	}
	return nil
}

func (l lab) statusOf(t *table, p madeProject, n int) error {
	dir := filepath.Join(l.dir, p.name)
	if err := p.write(dir); err != nil {
		return err
	}
	b, _, err := l.start("cache", "--project", dir, "--toolsets", "all")
	if err != nil {
		return err
	}
	defer b.Close(10 * time.Second)
	if _, err := b.says("load-system", map[string]any{"system": p.name}, "Loaded"); err != nil {
		return err
	}
	plain := func() error {
		return l.sbclIn(dir, filepath.Join(l.dir, "fasls", p.name), "--noinform", "--non-interactive", "--eval", "(require :asdf)",
			"--eval", fmt.Sprintf("(asdf:load-system %q)", p.name))
	}
	if err := plain(); err != nil {
		return err
	}
	// Once, so that the core of the project is there, as it is for the next edits of a person.
	if _, err := b.says("project-status", nil, ""); err != nil {
		return err
	}
	var took [3]times // plain, after an edit, again
	for try := range n {
		time.Sleep(1100 * time.Millisecond) // ASDF compares whole seconds
		if err := p.writeFile(dir, 0, try+1); err != nil {
			return err
		}
		for w, way := range []func() error{
			plain,
			func() error { _, err := b.says("project-status", nil, "f0-0 differs"); return err },
			func() error { _, err := b.says("project-status", nil, "f0-0 differs"); return err },
		} {
			one, err := repeat(1, way)
			if err != nil {
				return err
			}
			took[w] = append(took[w], one...)
		}
	}
	lines := p.files * p.functions * 7
	what := fmt.Sprintf("project-status, %d files, %d lines", p.files, lines)
	after := t.add(what+"; one edited, p50", "ms", ms(took[0].at(50)), ms(took[1].at(50)))
	if p.edited > 0 {
		after.most(p.edited)
	}
	t.add(what+"; judged, p50", "ms", 0, ms(took[2].at(50))).most(p.judged)
	return nil
}

// says calls a tool, whose reply is to have want.
func (b bridge) says(tool string, args map[string]any, want string) (string, error) {
	ctx, stop := context.WithTimeout(context.Background(), 5*time.Minute)
	defer stop()
	r, err := b.Tool(ctx, tool, args)
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", tool, err, b.Said())
	}
	if text := r.Text(); r.IsError || !strings.Contains(strings.ToLower(text), strings.ToLower(want)) {
		return text, fmt.Errorf("%s: got %.600q, want %q", tool, text, want)
	}
	return r.Text(), nil
}

// write makes the project in dir.
func (p madeProject) write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "(defsystem %q :serial t :components ((:file \"package\")", p.name)
	for i := range p.files {
		if err := p.writeFile(dir, i, 0); err != nil {
			return err
		}
		fmt.Fprintf(&b, "\n  (:file \"file-%d\")", i)
	}
	b.WriteString("))\n")
	pkg := fmt.Sprintf("(defpackage :%s (:use :cl))\n", p.name)
	if err := os.WriteFile(filepath.Join(dir, "package.lisp"), []byte(pkg), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, p.name+".asd"), []byte(b.String()), 0o644)
}

// writeFile writes the file of that number, whose first function has that edition.
func (p madeProject) writeFile(dir string, file, edition int) error {
	var b strings.Builder
	fmt.Fprintf(&b, "(in-package :%s)\n\n", p.name)
	for i := range p.functions {
		fmt.Fprintf(&b, `(defun f%[1]d-%[2]d (x y)
  "Add X and Y."
  (let ((sum (+ x y %[3]d)))
    (when (> sum %[1]d)
      (setf sum (- sum (length (list x y)))))
    (list :sum sum)))

`, file, i, edition)
		edition = 0
	}
	return os.WriteFile(filepath.Join(dir, fmt.Sprintf("file-%d.lisp", file)), []byte(b.String()), 0o644)
}
