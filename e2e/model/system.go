//go:build unix

package model

import (
	"fmt"
	"maps"

	"swank-mcp/e2e/harness"
)

// miniSource models one file of the system mini.
type miniSource struct {
	version int // each edit has its own
	names   map[string]int
}

// miniNames are the functions that the files of mini define.
var miniNames = map[string][]string{"a": {"x0", "x1"}, "b": {"x2", "x3"}, "c": {"x4"}}

// load models loading mini: each file that has changed, or with force all files.
func (o *Session) load(force bool) {
	for file, now := range o.disk {
		if o.loaded && !force && now.version == o.image[file].version {
			continue
		}
		for name, n := range now.names {
			k := key{"operator", "mini", name}
			o.define(k, plainDefun, n, false)
			o.facts[k].file = file
		}
		o.image[file] = now
	}
	o.loaded = true
}

func init() {
	maps.Copy(steps, map[string]step{
		"edit":            func(r *Run, s Step) bool { return r.edits(s, 1, false) },
		"edit and load":   func(r *Run, s Step) bool { return r.edits(s, 1, true) },
		"edits and loads": func(r *Run, s Step) bool { return r.edits(s, 3, true) }, // within a second
		"load":            func(r *Run, s Step) bool { return r.run(r.loadBy(s)) },
		"test": func(r *Run, s Step) bool {
			r.load(false)
			return r.run(Tool("run-tests", harness.Object{"system": "mini"}))
		},
		"file of mini": func(r *Run, s Step) bool { // as one tries it, without its system
			file := one(s, "a", "b", "c")
			if !r.loaded {
				return false
			}
			for name, n := range r.disk[file].names {
				r.define(key{"operator", "mini", name}, plainDefun, n, false)
			}
			return r.run(Tool(one(s, "load-file", "compile-file"), harness.Object{"path": "mini/" + file + ".lisp"}))
		},
	})
}

func (r *Run) edits(s Step, times int, load bool) bool {
	file := one(s, "a", "b", "c")
	for i := range times {
		r.do(r.edit(s, file, i))
		if load {
			r.do(r.loadBy(s))
		}
	}
	return true
}

// edit writes a file of mini anew: each of its functions is another one, or as
// it was, or not there.
func (o *Session) edit(s Step, file string, again int) Call {
	version, names := s.N*10+3*again, map[string]int{}
	text := fmt.Sprintf("; %d\n(in-package :mini)\n", version)
	for i, name := range miniNames[file] {
		n, there := o.disk[file].names[name]
		switch how := s.IntN(8); {
		case how == 0 || how < 3 && !there:
			continue
		case how >= 3:
			n = version + i
		}
		names[name] = n
		o.known[key{"operator", "mini", name}] = true
		text += fmt.Sprintf("(defun %s () %d)\n", name, n)
	}
	o.disk[file] = miniSource{version, names}
	return File("mini/"+file+".lisp", text)
}

func (o *Session) loadBy(s Step) Call {
	how := s.IntN(8)
	o.load(how == 0)
	switch {
	case how == 0:
		return Tool("load-system", harness.Object{"system": "mini", "force": true})
	case how%2 == 0:
		return Tool("load-system", harness.Object{"system": "mini/mini.asd"})
	}
	return LoadMini
}
