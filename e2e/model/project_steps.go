//go:build unix

package model

import (
	"fmt"
	"maps"
	"strings"

	"swank-mcp/e2e/harness"
)

// onName makes a step of what is done to a random name, with another form.
func onName(do func(r *Run, s Step, n statusName, form string)) step {
	return func(r *Run, s Step) bool {
		n := one(s, statusNames...)
		do(r, s, n, r.project.form(s, n))
		return true
	}
}

func init() {
	maps.Copy(steps, map[string]step{
		"edit form": onName(func(r *Run, s Step, n statusName, form string) {
			r.write(s, n, form)
			if s.IntN(2) == 0 { // within a millisecond
				r.write(s, n, r.project.form(s, n))
			}
		}),
		"take away": onName(func(r *Run, s Step, n statusName, _ string) { r.write(s, n, "") }),
		"live form": onName(func(r *Run, s Step, n statusName, form string) { r.live(liveForm(s, n, form)) }),
		"live and written": onName(func(r *Run, s Step, n statusName, form string) {
			r.live(liveForm(s, n, form))
			r.write(s, n, form)
		}),
		"as written": onName(func(r *Run, s Step, n statusName, _ string) {
			if form := r.project.disk[n]; form != "" {
				r.live(liveForm(s, n, strings.Replace(form, " ", "  ", 1)))
			}
		}),
		"undo form": onName(func(r *Run, _ Step, n statusName, _ string) { r.live(n.of(statusKinds[n.kind].undo)) }),
		"load one": onName(func(r *Run, s Step, n statusName, _ string) {
			file := n.file + ".lisp"
			r.do(one(s, Tool("load-file", harness.Object{"path": file}), Tool("compile-file", harness.Object{"path": file, "load": true}),
				Tool("evaluate-lisp", harness.Object{"code": fmt.Sprintf("(load %q)", file), "package": "mini"})))
		}),
		"other files": func(r *Run, s Step) bool { // the last goes out of the system, or comes back
			r.project.files = statusFiles[:len(statusFiles)-s.IntN(2)]
			return r.run(File("mini.asd", r.project.system()))
		},
		"tidy":           (*Run).tidy,
		"load by status": func(r *Run, s Step) bool { return r.run(Tool("project-status", harness.Object{"load": true})) },
		"load project":   func(r *Run, s Step) bool { return r.run(LoadMini) },
	})
}

func (r *Run) live(code string) {
	r.do(Tool("evaluate-lisp", harness.Object{"code": code, "package": "mini"}))
}

// write writes the file of n with another form, and with blank lines of random number.
func (r *Run) write(s Step, n statusName, form string) {
	r.project.disk[n] = form
	r.do(File(n.file+".lisp", r.project.text(n.file)+strings.Repeat("\n", s.IntN(3))))
}

// liveForm returns form, a definition of n, as an evaluation has it. SBCL asks before it changes a
// constant. It also asks before it changes a structure's slots, but a DEFSTRUCT that is not at
// top level is compiled with the earlier structure, and what comes of it is neither: files
// change slots here, evaluations do not.
func liveForm(s Step, n statusName, form string) string {
	switch n.kind {
	case "export":
		return "(export '" + form + ")"
	case "constant":
		if s.IntN(2) == 0 {
			return "(handler-bind ((error #'continue)) " + form + ")"
		}
	}
	return form
}

// tidy brings the image to where a fresh one is: it undoes what only the image has, gives
// constants and variables the values that the files say, and loads all files again.
func (r *Run) tidy(s Step) bool {
	for _, n := range statusNames {
		form, there := r.project.disk[n], false
		for _, file := range r.project.files {
			there = there || file == n.file
		}
		switch {
		case n.kind == "type" && form == "": // nothing takes a type away
			r.write(s, n, r.project.form(s, n))
		case n.kind == "constant" && form == "":
			r.write(s, n, r.project.form(s, n))
			form = r.project.disk[n]
			fallthrough
		case n.kind == "constant":
			r.live("(handler-bind ((error #'continue)) " + form + ")")
		case n.kind == "variable" || n.kind == "conditional" || form == "" || !there:
			r.live("(ignore-errors " + n.of(statusKinds[n.kind].undo) + ")")
		}
	}
	r.do(Tool("load-system", harness.Object{"system": "mini/base", "force": true})) // the other does not reach it
	return r.run(Tool("load-system", harness.Object{"system": "mini", "force": true}))
}
