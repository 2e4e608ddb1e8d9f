package project

import (
	"fmt"
	"strings"
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/e2e/model"
)

// step takes a random step.
func (w *statusWorld) step(t *testing.T) {
	t.Helper()
	n := statusNames[w.random.IntN(len(statusNames))]
	switch op := w.random.IntN(26); {
	case op < 4: // an edit, perhaps two within a millisecond
		for range 1 + w.random.IntN(2) {
			w.edit(t, n, w.form(n))
		}
	case op < 5: // the form is taken away
		w.edit(t, n, "")
	case op < 8:
		w.live(t, w.liveForm(n, w.form(n)))
	case op < 10: // what was tried live goes into the file
		form := w.form(n)
		w.live(t, w.liveForm(n, form))
		w.edit(t, n, form)
	case op < 11: // what the file has is evaluated
		if form := w.disk[n]; form != "" {
			w.live(t, w.liveForm(n, strings.Replace(form, " ", "  ", 1)))
		}
	case op < 12:
		w.live(t, w.undone(n))
	case op < 13:
		w.call(t, "load-file", harness.Object{"path": w.Path(n.file + ".lisp")})
	case op < 14:
		w.live(t, fmt.Sprintf("(load %q)", w.Path(n.file+".lisp")))
	case op < 15:
		w.call(t, "compile-file", harness.Object{"path": w.Path(n.file + ".lisp"), "load": true})
	case op < 16: // the last file goes out of the system, or comes back
		if w.files = statusFiles[:len(statusFiles)-1]; w.random.IntN(2) == 0 {
			w.files = statusFiles
		}
		w.saveSystem(t)
		w.log = append(w.log, fmt.Sprint("the system has ", w.files))
	case op < 21:
		w.tidy(t)
	case op < 22:
		w.call(t, "project-status", harness.Object{"load": true})
	default:
		w.call(t, "load-system", harness.Object{"system": "mini"})
	}
}

func (w *statusWorld) call(t *testing.T, tool string, args harness.Object) {
	t.Helper()
	reply := w.Do(t, model.Tool(tool, args))
	w.log = append(w.log, fmt.Sprint(tool, " ", args))
	if first, rest, _ := strings.Cut(reply, "\n"); strings.HasPrefix(first, "[ERROR]") {
		second, _, _ := strings.Cut(rest, "\n")
		w.log = append(w.log, "  "+first+" "+second)
	}
}

func (w *statusWorld) live(t *testing.T, code string) {
	t.Helper()
	w.call(t, "evaluate-lisp", harness.Object{"code": code, "package": "mini"})
}

func (w *statusWorld) edit(t *testing.T, n statusName, form string) {
	t.Helper()
	w.disk[n] = form
	w.save(t, n.file)
	w.log = append(w.log, "edit "+n.file+": "+n.name+": "+form)
}

// liveForm is how form, a definition of n, is evaluated. SBCL asks before it changes a
// constant. It also asks before it changes a structure's slots, but a DEFSTRUCT that is not at
// top level is compiled with the earlier structure, and what comes of it is neither: files
// change slots here, evaluations do not.
func (w *statusWorld) liveForm(n statusName, form string) string {
	switch n.kind {
	case "export":
		return "(export '" + form + ")"
	case "constant":
		if w.random.IntN(2) == 0 {
			return "(handler-bind ((error #'continue)) " + form + ")"
		}
	}
	return form
}

// undone is code that undoes the definition n. For a constant there is none.
func (w *statusWorld) undone(n statusName) string {
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
func (w *statusWorld) tidy(t *testing.T) {
	t.Helper()
	for _, n := range statusNames {
		form, there := w.disk[n], false
		for _, file := range w.files {
			there = there || file == n.file
		}
		switch {
		case n.kind == "constant" && form == "":
			w.edit(t, n, w.form(n))
			form = w.disk[n]
			fallthrough
		case n.kind == "constant":
			w.live(t, "(handler-bind ((error #'continue)) "+form+")")
		case n.kind == "variable" || form == "" || !there:
			w.live(t, "(ignore-errors "+w.undone(n)+")")
		}
	}
	w.call(t, "load-system", harness.Object{"system": "mini", "force": true})
}
