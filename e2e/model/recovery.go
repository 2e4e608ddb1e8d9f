//go:build unix

package model

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"swank-mcp/e2e/harness"
)

func init() {
	maps.Copy(steps, map[string]step{
		"reset": (*Run).reset,
		"save": func(r *Run, s Step) bool {
			r.saved(r.back())
			return true
		},
		"die": func(r *Run, s Step) bool { // it comes back from a checkpoint, or by the journal
			if r.line != nil {
				return r.kill(s)
			}
			r.do(Call{})
			r.owed = &owed{wants: r.back(), back: true}
			return true
		},
		"save and bring back": func(r *Run, s Step) bool { // from the file: it is reset between
			wants := r.back()
			file := r.saved(wants)
			if r.failure != "" || file == "" {
				return true
			}
			facts, setups, pair, packages := maps.Clone(r.facts), r.setups, r.pair, r.packages
			r.reset(s)
			r.Answers()
			r.facts, r.setups, r.pair, r.packages = facts, setups, pair, packages
			reply := r.do(Tool("load-session", harness.Object{"file": file}))
			r.owed = &owed{forgiven(wants), reply, true}
			return true
		},
	})
}

// HasMini begins a session that can load the system mini.
func (r *Run) HasMini() {
	r.World = NewWorld(r.T)
	r.do(Eval(":begun")) // an image to die
}

func (r *Run) reset(Step) bool {
	c, facts := Tool("reset-session", harness.Object{}), r.facts
	if r.loaded {
		r.owed = &owed{wants: r.afterReset()}
	} else {
		c.want = "^" + harness.ResetText + "$"
	}
	if r.clear(); r.loaded {
		r.facts = facts // which the next answers settle
	}
	return r.run(c)
}

// saved saves the session and compares what a plain SBCL makes of the file, "" if there is none.
func (r *Run) saved(wants map[key]want) (file string) {
	file, told := r.Save(r.T)
	r.script.add(Tool("save-session", harness.Object{"file": file}), told)
	r.script.lines = append(r.script.lines, "exec sbcl "+strings.Join(plainSBCL, " ")+" --load "+file)
	keys := sorted(wants)
	answers := answersOf(keys, r.InPlainSBCL(r.T, askAll(keys), file))
	if complaint := disagrees(wants, answers, &told, false); complaint != "" {
		r.fails("in a plain sbcl that loads %s:\n%s\nsave-session said:\n%s", file, complaint, harness.Clip(told))
	}
	if strings.HasPrefix(told, "Nothing to save") {
		return ""
	}
	return file
}

// Answers checks that what is asked for answers as who defined it last has said. After a
// session was reset or brought back it takes over what is answered.
func (r *Run) Answers() {
	answers, reply := r.answers()
	w := r.owed
	if r.owed = nil; w == nil {
		if complaint := disagrees(r.now(), answers, nil, false); complaint != "" {
			r.fails("in the same image:\n%s%s", complaint, reply)
		}
		return
	}
	report := cmp.Or(w.report, reply)
	if complaint := disagrees(w.wants, answers, &report, true); complaint != "" {
		r.fails("%s\nthe reply:\n%s", complaint, harness.Clip(report))
	}
	r.settle(answers, w.back)
}

// answers asks for all that is known.
func (r *Run) answers() (map[key]string, string) {
	keys := sorted(r.now())
	line, reply := r.Ask(r.T, askAll(keys))
	return answersOf(keys, line), reply
}

// askAll is code for the answers to all keys, as one string.
func askAll(keys []key) string {
	var texts strings.Builder
	for _, k := range keys {
		texts.WriteString(" " + lispString(k.ask()))
	}
	return `(flet ((answer (text) (handler-case (or (eval (read-from-string text)) :none) (error () :none))))
  (format nil "~{~A~^ ~}" (mapcar #'answer '(` + texts.String() + `))))`
}

// answersOf gives each key its answer; the whole line where there are not as many.
func answersOf(keys []key, line string) map[key]string {
	parts := strings.Fields(strings.Trim(line, `"`))
	answers := map[key]string{}
	for i, k := range keys {
		answers[k] = line
		if len(parts) == len(keys) {
			answers[k] = parts[i]
		}
	}
	return answers
}

// forgiven are wants where save-session has told of the losses, in the image in
// which a reset may have taken away a function of the system.
func forgiven(wants map[key]want) map[key]want {
	forgiven := map[key]want{}
	for k, w := range wants {
		w.told = false
		w.answers = append(slices.Clone(w.answers), w.lost...)
		if k.pkg == "mini" {
			w.answers = append(w.answers, none)
		}
		forgiven[k] = w
	}
	return forgiven
}
