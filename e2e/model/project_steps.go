//go:build unix

package model

import (
	"fmt"
	"strings"

	"swank-mcp/e2e/harness"
)

func (r *Run) live(code string) {
	r.do(Tool("evaluate-lisp", harness.Object{"code": code, "package": "mini"}))
}

// write writes the file of n with another form, and with blank lines of random number.
func (r *Run) write(s Step, n statusName, form string) {
	r.project.disk[n] = form
	r.do(File(n.file+".lisp", r.project.text(n.file)+strings.Repeat("\n", s.IntN(3))))
}

// onName makes a step of what is done to a random name.
func onName(do func(r *Run, s Step, n statusName)) func(*Run, Step) bool {
	return func(r *Run, s Step) bool {
		do(r, s, one(s, statusNames...))
		return true
	}
}

// editForm edits, perhaps twice within a millisecond.
func (r *Run) editForm(s Step, n statusName) {
	for range 1 + s.IntN(2) {
		r.write(s, n, r.project.form(s, n))
	}
}

func (r *Run) takeAway(s Step, n statusName) { r.write(s, n, "") }

func (r *Run) liveOnly(s Step, n statusName) { r.live(liveForm(s, n, r.project.form(s, n))) }

// liveAndWritten has what was tried live go into the file.
func (r *Run) liveAndWritten(s Step, n statusName) {
	form := r.project.form(s, n)
	r.live(liveForm(s, n, form))
	r.write(s, n, form)
}

// asWritten evaluates what the file has.
func (r *Run) asWritten(s Step, n statusName) {
	if form := r.project.disk[n]; form != "" {
		r.live(liveForm(s, n, strings.Replace(form, " ", "  ", 1)))
	}
}

func (r *Run) undoForm(_ Step, n statusName) { r.live(undone(n)) }

func (r *Run) loadOne(s Step, n statusName) {
	file := n.file + ".lisp"
	switch s.IntN(3) {
	case 0:
		r.do(Tool("load-file", harness.Object{"path": file}))
	case 1:
		r.live(fmt.Sprintf("(load %q)", file))
	default:
		r.do(Tool("compile-file", harness.Object{"path": file, "load": true}))
	}
}

// otherFiles takes the last file out of the system, or has it come back.
func (r *Run) otherFiles(s Step) bool {
	r.project.files = statusFiles[:len(statusFiles)-s.IntN(2)]
	r.do(File("mini.asd", r.project.system()))
	return true
}

func (r *Run) loadByStatus(Step) bool {
	r.do(Tool("project-status", harness.Object{"load": true}))
	return true
}

func (r *Run) loadProject(Step) bool {
	r.do(LoadMini)
	return true
}

// liveForm is how form, a definition of n, is evaluated. SBCL asks before it changes a
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

// undone is code that undoes the definition n. For a constant there is none.
func undone(n statusName) string {
	name, class, _ := strings.Cut(n.name, " ")
	switch n.kind {
	case "export":
		return "(unexport '" + name + ")"
	case "constant":
		return "nil"
	case "variable":
		return "(makunbound '" + name + ")"
	case "structure", "class":
		return "(setf (find-class '" + name + ") nil)"
	case "method":
		return fmt.Sprintf("(remove-method #'%s (find-method #'%[1]s () (list (find-class '%s))))", name, class)
	}
	return "(fmakunbound '" + name + ")"
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
		case n.kind == "constant" && form == "":
			r.write(s, n, r.project.form(s, n))
			form = r.project.disk[n]
			fallthrough
		case n.kind == "constant":
			r.live("(handler-bind ((error #'continue)) " + form + ")")
		case n.kind == "variable" || form == "" || !there:
			r.live("(ignore-errors " + undone(n) + ")")
		}
	}
	r.do(Tool("load-system", harness.Object{"system": "mini", "force": true}))
	return true
}
