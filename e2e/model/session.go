//go:build unix

package model

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// none is the answer of an undefined name.
const none = "NONE"

// fact is an existing definition.
type fact struct {
	answer string
	first  string // when it is brought back: that of the definition
	loses  bool   // it may be lost, if that is said
	macro  bool   // SETF of FDEFINITION leaves it one
	file   string // of mini, which has brought it
}

// Session knows who defined what last.
type Session struct {
	facts  map[key]*fact
	known  map[key]bool // ever defined, or nearly
	setups []setup      // functions that define when they are called
	pair   bool         // the macro defpair is defined

	packages map[string]*scope
	current  *scope
	owed     *owed // what the next answers are compared with, nil the facts

	history
	mixed
	project project

	// Of libraries: the definitions that are still to be written, and how many there were.
	unwritten   []definition
	definitions int

	// The system mini: by file, what is on disk and what was loaded of it.
	loaded      bool
	disk, image map[string]miniSource
}

type setup struct {
	n    int
	key  key
	kind kind
}

func newSession() *Session {
	o := &Session{known: map[key]bool{{"operator", "", "op-never"}: true},
		disk: map[string]miniSource{"a": {}, "b": {}, "c": {}}, image: map[string]miniSource{}}
	o.clear()
	return o
}

// clear forgets all but the system.
func (o *Session) clear() {
	o.facts, o.setups, o.pair = map[key]*fact{}, nil, false
	o.current = newScope("")
	o.packages = map[string]*scope{"": o.current}
}

func (o *Session) has(pkg string) bool {
	return pkg == "mini" && o.loaded || o.packages[pkg] != nil
}

// plainDefun defines a function of one number; most steps use this kind.
var plainDefun = kind{slot: "operator", define: "(defun $s () $n)"}

// define models the evaluation of a definition of that kind.
func (o *Session) define(k key, kind kind, n int, loses bool) {
	o.known[k] = true
	rule := kind.rule
	old, answer := o.facts[k], fmt.Sprint(n)
	switch {
	case rule == needless || rule == once && old != nil:
	case rule == assigns && old != nil:
		old.answer = answer
	case rule == assigns:
		o.facts[k] = &fact{answer: answer, first: none}
	default:
		o.facts[k] = &fact{answer: answer, first: answer, loses: loses, macro: strings.Contains(kind.define, "macro")}
	}
}

// fits reports whether the definition can be made of what there is.
func (o *Session) fits(kind kind, k key) bool {
	old := o.facts[k]
	switch {
	case !o.has(k.pkg):
		return false
	case old == nil:
		return kind.rule != needless && (kind.rule != assigns || k.slot == "loose")
	}
	return !old.macro || !strings.HasPrefix(kind.define, "(setf (fdefinition") && !strings.HasPrefix(kind.define, "(setf (symbol-function")
}

// gone undoes all that is said of.
func (o *Session) gone(of func(key) bool) {
	maps.DeleteFunc(o.facts, func(k key, _ *fact) bool { return of(k) })
	o.setups = slices.DeleteFunc(o.setups, func(s setup) bool { return of(s.key) })
}

// rename moves what is in the package.
func (o *Session) rename(from, to string) {
	for k, f := range maps.Clone(o.facts) {
		renamed := k
		if k.pkg == from {
			renamed.pkg = to
		} else if k.slot == "package" && k.name == from {
			renamed.name = to
		}
		if renamed != k {
			delete(o.facts, k)
			o.facts[renamed], o.known[renamed] = f, true
		}
	}
	o.setups = slices.DeleteFunc(o.setups, func(s setup) bool { return s.key.pkg == from })
}
