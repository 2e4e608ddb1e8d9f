package project

import (
	"flag"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/e2e/model"
	"swank-mcp/internal/tier"
)

var (
	statusSteps = flag.Int("status.steps", 60, "steps of TestStatusProperty")
	statusSeed  = flag.Uint64("status.seed", 1, "seed of TestStatusProperty")
)

// TestStatusProperty edits files, defines and undoes live and loads, at random. After
// each step project-status says that what is loaded is what is on disk if and only if the
// image and a plain SBCL that loads the files answer the same for every name. Three
// things are left out, because project-status does not see them: an assignment to a
// variable, which is no definition, and functions compiled with an inlined function, or with
// a macro, that is another function now.
func TestStatusProperty(t *testing.T) {
	tier.More(t)
	t.Parallel()
	w := newStatusWorld(t, *statusSeed)
	clean, steps := 0, 0
	for ; steps < *statusSteps; steps++ {
		if steps > 0 { // what is there at first is compared, too
			w.step(t)
		}
		live, _ := w.Ask(t, strings.Replace(statusAnswers, "$system", systemFiles, 1))
		fresh := w.fresh(t)
		said := w.Do(t, model.Tool("project-status", harness.Object{}))
		is := saysClean(said)
		if is {
			clean++
		}
		if same := live == fresh; same != is {
			t.Fatalf("after %d steps with seed %d\n%s\n%s\nsteps:\n%s", steps, *statusSeed, said, otherAnswers(live, fresh), strings.Join(w.log, "\n"))
		}
	}
	t.Logf("%d steps, clean after %d of them", steps, clean)
	if *statusSteps >= 60 && (clean == 0 || clean == steps) {
		t.Errorf("%d of %d steps were clean: the test compares nothing", clean, steps)
	}
}

// otherAnswers names what the image and a fresh one answer otherwise.
func otherAnswers(live, fresh string) string {
	names := append(slices.Clone(statusNames), statusName{"system", "mini", ""})
	was, is := strings.Split(live, " | "), strings.Split(fresh, " | ")
	if len(was) != len(names) || len(is) != len(names) {
		return fmt.Sprintf("the image answers %s, a fresh one %s", live, fresh)
	}
	text := ""
	for i, n := range names {
		if was[i] != is[i] {
			text += fmt.Sprintf("%s %s: the image answers %s, a fresh one %s\n", n.kind, n.name, was[i], is[i])
		}
	}
	return text
}

// oldObjects is a line about objects, which are garbage here, not about a definition.
var oldObjects = regexp.MustCompile(`(?m)^- (?:at least )?[0-9]+ objects? of an earlier .*\n?`)

// saysClean reports whether the reply of project-status names no difference.
func saysClean(reply string) bool {
	reply = oldObjects.ReplaceAllString(reply, "")
	return strings.HasPrefix(reply, "What is loaded is what is on disk") ||
		strings.HasPrefix(reply, "The image differs") && !strings.Contains(reply, "\n- ")
}

// statusAnswers is code for what every name answers, as a string. That one is undefined is
// an answer, too.
var statusAnswers = func() string {
	code := `(let ((*print-pretty* nil) (*package* (find-package :mini)))
(macrolet ((answer (form) (list 'handler-case form '(error () :error))))
(format nil "~{~S~^ | ~}" (list `
	for _, n := range statusNames {
		name, class, _ := strings.Cut(n.name, " ")
		code += "(answer " + strings.NewReplacer("$n", "mini::"+name, "$c", class).Replace(statusQuestions[n.kind]) + ") "
	}
	return code + `$system))))`
}()

// systemFiles is code for the files of the system as ASDF knows it: that is a definition, too.
const systemFiles = `(mapcar (function asdf:component-name) (asdf:component-children (asdf:registered-system "mini")))`

// statusQuestions is by kind code for what the name $n answers.
var statusQuestions = map[string]string{
	"export":   `(list :export (nth-value 1 (find-symbol (string '$n) :mini)))`,
	"macro":    `(if (macro-function '$n) (macroexpand-1 '($n)) :none)`,
	"function": `(cond ((not (fboundp '$n)) :none) ((macro-function '$n) (macroexpand-1 '($n))) (t (funcall '$n)))`,
	"constant": `(list (constantp '$n) (symbol-value '$n))`,
	"variable": `(symbol-value '$n)`,
	"structure": `(list (find-class '$n nil) (and (fboundp 'mini::s0-x) t) (and (fboundp 'mini::s0-y) t) (and (fboundp 'mini::s0-z) t)
  (answer (funcall 'mini::make-s0)))`,
	"class":   `(let ((i (make-instance '$n))) (list (slot-exists-p i 'mini::y) (slot-exists-p i 'mini::z) (funcall 'mini::c0-x i)))`,
	"generic": `(if (fboundp '$n) (list (documentation '$n 'function) (answer (funcall '$n 'x))) :none)`,
	"method":  `(funcall '$n (let ((class '$c)) (case class (integer 1) (string "a") (t (make-instance 'mini::c0)))))`,
}

// fresh is what a plain SBCL answers that loads the files as ASDF would. If it fails to
// load them, that is an answer that no image gives.
func (w *statusWorld) fresh(t *testing.T) string {
	t.Helper()
	texts, files := "", []string{}
	for _, file := range w.files {
		texts += w.text(file)
		files = append(files, file+".lisp")
	}
	if w.known[texts] == "" {
		w.known[texts] = w.InPlainSBCL(t, strings.Replace(statusAnswers, "$system", `'("`+strings.Join(w.files, `" "`)+`")`, 1), files...)
	}
	return w.known[texts]
}
