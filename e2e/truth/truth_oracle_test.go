package truth

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// none is the answer of an undefined name.
const none = "NONE"

// truthFact is an existing definition.
type truthFact struct {
	answer string
	first  string // when it is brought back: that of the definition
	loses  bool   // it may be lost, if that is said
	macro  bool   // SETF of FDEFINITION leaves it one
	file   string // of mini, which has brought it
}

// truthOracle knows who defined what last.
type truthOracle struct {
	facts  map[truthKey]*truthFact
	known  map[truthKey]bool // ever defined, or nearly
	setups []truthSetup      // functions that define when they are called
	pair   bool              // the macro defpair is defined

	// The system mini: by file, what is on disk and what was loaded of it.
	loaded      bool
	disk, image map[string]miniSource
}

// miniSource is what a file of mini defines.
type miniSource struct {
	version int // each edit has its own
	names   map[string]int
}

type truthSetup struct {
	n    int
	key  truthKey
	kind truthKind
}

// miniNames are the functions that the files of mini define.
var miniNames = map[string][]string{"a": {"x0", "x1"}, "b": {"x2", "x3"}, "c": {"x4"}}

func newTruthOracle() *truthOracle {
	return &truthOracle{facts: map[truthKey]*truthFact{}, known: map[truthKey]bool{{"operator", "", "op-never"}: true},
		disk: map[string]miniSource{"a": {}, "b": {}, "c": {}}, image: map[string]miniSource{}}
}

func (o *truthOracle) has(pkg string) bool {
	return pkg == "" || pkg == "mini" && o.loaded || o.facts[truthKey{"package", "", pkg}] != nil
}

// plainDefun is what most things are defined by.
var plainDefun = truthKind{slot: "operator", define: "(defun $s () $n)"}

// define is what evaluating a definition of the kind does.
func (o *truthOracle) define(k truthKey, kind truthKind, n int, loses bool) {
	o.known[k] = true
	rule := kind.rule
	old, answer := o.facts[k], fmt.Sprint(n)
	switch {
	case rule == needless || rule == once && old != nil:
	case rule == assigns && old != nil:
		old.answer = answer
	case rule == assigns:
		o.facts[k] = &truthFact{answer: answer, first: none}
	default:
		o.facts[k] = &truthFact{answer: answer, first: answer, loses: loses, macro: strings.Contains(kind.define, "macro")}
	}
}

// fits reports whether the definition can be made of what there is.
func (o *truthOracle) fits(kind truthKind, k truthKey) bool {
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
func (o *truthOracle) gone(of func(truthKey) bool) {
	maps.DeleteFunc(o.facts, func(k truthKey, _ *truthFact) bool { return of(k) })
	o.setups = slices.DeleteFunc(o.setups, func(s truthSetup) bool { return of(s.key) })
}

// rename moves what is in the package.
func (o *truthOracle) rename(from, to string) {
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
	o.setups = slices.DeleteFunc(o.setups, func(s truthSetup) bool { return s.key.pkg == from })
}

// load is what loading mini does: of each file that has changed, or of all.
func (o *truthOracle) load(force bool) {
	for file, now := range o.disk {
		if o.loaded && !force && now.version == o.image[file].version {
			continue
		}
		for name, n := range now.names {
			k := truthKey{"operator", "mini", name}
			o.define(k, plainDefun, n, false)
			o.facts[k].file = file
		}
		o.image[file] = now
	}
	o.loaded = true
}

// truthWant is what may be answered.
type truthWant struct {
	answers []string
	lost    []string // these, too, if the loss is told
	told    bool     // the report names it, whatever is answered
}

// now is what the image must answer now.
func (o *truthOracle) now() map[truthKey]truthWant {
	return o.wants(func(k truthKey, f *truthFact) truthWant { return truthWant{answers: []string{f.answer}} })
}

func (o *truthOracle) wants(of func(truthKey, *truthFact) truthWant) map[truthKey]truthWant {
	wants := map[truthKey]truthWant{}
	for k := range o.known {
		wants[k] = truthWant{answers: []string{none}}
		if f := o.facts[k]; f != nil {
			wants[k] = of(k, f)
		}
	}
	return wants
}

// back is what an image answers to which the session was brought back. What was
// tried live over a file that has changed since may win or lose, and a function
// that its file no longer has may be there or not.
func (o *truthOracle) back() map[truthKey]truthWant {
	wants := o.wants(func(k truthKey, f *truthFact) truthWant {
		w := truthWant{answers: []string{f.first}, told: f.answer != f.first}
		if f.loses {
			w.lost = []string{none}
		}
		return w
	})
	for file, names := range miniNames {
		changed := o.disk[file].version != o.image[file].version
		for _, name := range names {
			k := truthKey{"operator", "mini", name}
			f, w, disk := o.facts[k], wants[k], none
			if n, ok := o.disk[file].names[name]; ok && o.loaded {
				disk = fmt.Sprint(n)
				o.known[k] = true
			}
			switch {
			case f == nil || f.file != "" && disk != none:
				w = truthWant{answers: []string{disk}}
			case f.file != "":
				w.answers = append(w.answers, none)
			case changed && disk != none:
				w.answers = append(w.answers, disk)
			case f.loses:
				w.lost = append(w.lost, disk)
			}
			if o.known[k] {
				wants[k] = w
			}
		}
	}
	return wants
}

// afterReset is what is left of a reset: the system. What was tried live over a
// function of its own may be undone or taken away.
func (o *truthOracle) afterReset() map[truthKey]truthWant {
	return o.wants(func(k truthKey, f *truthFact) truthWant {
		w := truthWant{answers: []string{none}}
		for file, loaded := range o.image {
			n, ok := loaded.names[k.name]
			switch {
			case k.pkg != "mini" || !slices.Contains(miniNames[file], k.name):
			case f.file != "":
				w.answers = []string{f.answer}
			case ok:
				w.answers = append(w.answers, fmt.Sprint(n))
			}
		}
		return w
	})
}

// settle takes over what an image answers that was reset, or to which the session
// was brought back, with the system as it is on disk. What the session had defined
// before it was brought back is its own still, also where a file says the same.
func (o *truthOracle) settle(answers map[truthKey]string, back bool) {
	if back && o.loaded {
		o.image = maps.Clone(o.disk)
	}
	for k, answer := range answers {
		f := o.facts[k]
		if answer == none {
			delete(o.facts, k)
			continue
		}
		own := back && f != nil && f.file == "" && f.answer == answer
		if f == nil {
			f = &truthFact{}
			o.facts[k] = f
		}
		if f.answer != answer {
			f.file = ""
		}
		f.answer, f.first = answer, answer
		for file, loaded := range o.image {
			if n, ok := loaded.names[k.name]; ok && k.pkg == "mini" && answer == fmt.Sprint(n) && !own {
				f.file, f.loses = file, false
			}
		}
	}
}

// disagrees compares answers with the expected ones; report is the text that names losses.
func disagrees(wants map[truthKey]truthWant, answers map[truthKey]string, report *string) string {
	var b strings.Builder
	for _, k := range sortedTruths(wants) {
		w, answer := wants[k], answers[k]
		told := report != nil && toldLost(*report, k.name)
		switch {
		case !slices.Contains(w.answers, answer) && !(told && slices.Contains(w.lost, answer)):
			fmt.Fprintf(&b, "%s (%s) answers %s, want %s", k.symbol(), k.slot, answer, strings.Join(w.answers, " or "))
			if w.lost != nil && report != nil {
				fmt.Fprintf(&b, ", or %s and the name told as lost", strings.Join(w.lost, " or "))
			}
			b.WriteString("\n")
		case w.told && report != nil && !hasName(*report, k.name):
			fmt.Fprintf(&b, "%s (%s) has lost its value, and the report does not name it\n", k.symbol(), k.slot)
		}
	}
	return b.String()
}

func sortedTruths(wants map[truthKey]truthWant) []truthKey {
	return slices.SortedFunc(maps.Keys(wants), func(a, b truthKey) int {
		return cmp.Or(cmp.Compare(a.pkg, b.pkg), cmp.Compare(a.slot, b.slot), cmp.Compare(a.name, b.name))
	})
}
