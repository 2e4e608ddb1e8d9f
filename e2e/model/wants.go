//go:build unix

package model

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// want lists the answers that may come.
type want struct {
	answers []string
	lost    []string // these, too, if the loss is told
	told    bool     // the report names it, whatever is answered
}

// owed holds wants for the first look after a reset or a recovery.
type owed struct {
	wants  map[key]want
	report string // where losses are told; "" is the next reply
	back   bool
}

// now returns the answers that the image must give now.
func (o *Session) now() map[key]want {
	return o.wants(func(k key, f *fact) want { return want{answers: []string{f.answer}} })
}

func (o *Session) wants(of func(key, *fact) want) map[key]want {
	wants := map[key]want{}
	for k := range o.known {
		wants[k] = want{answers: []string{none}}
		if f := o.facts[k]; f != nil {
			wants[k] = of(k, f)
		}
	}
	return wants
}

// back returns the answers that an image may give after the session was brought back to it. What was
// tried live over a file that has changed since may win or lose, and a function
// that its file no longer has may be there or not.
func (o *Session) back() map[key]want {
	wants := o.wants(func(k key, f *fact) want {
		w := want{answers: []string{f.first}, told: f.answer != f.first}
		if f.loses {
			w.lost = []string{none}
		}
		return w
	})
	for file, names := range miniNames {
		changed := o.disk[file].version != o.image[file].version
		for _, name := range names {
			k := key{"operator", "mini", name}
			f, w, disk := o.facts[k], wants[k], none
			if n, ok := o.disk[file].names[name]; ok && o.loaded {
				disk = fmt.Sprint(n)
				o.known[k] = true
			}
			switch {
			case f == nil || f.file != "" && disk != none:
				w = want{answers: []string{disk}}
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

// afterReset returns the answers that may come after a reset, which leaves the system. What was
// tried live over a function of its own may be undone or taken away.
func (o *Session) afterReset() map[key]want {
	return o.wants(func(k key, f *fact) want {
		w := want{answers: []string{none}}
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
func (o *Session) settle(answers map[key]string, back bool) {
	if back && o.loaded {
		o.image = maps.Clone(o.disk)
	}
	for k, answer := range answers {
		f := o.facts[k]
		if answer == none {
			delete(o.facts, k)
			if k.slot == "package" {
				delete(o.packages, k.name)
			}
			continue
		}
		own := back && f != nil && f.file == "" && f.answer == answer
		if f == nil {
			f = &fact{}
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

// disagrees compares answers with the expected ones; report is the text that names losses, and
// values that are lost if it is to. A saved file says in general that these are not in it.
func disagrees(wants map[key]want, answers map[key]string, report *string, values bool) string {
	var b strings.Builder
	for _, k := range sorted(wants) {
		w, answer := wants[k], answers[k]
		told := report != nil && ToldLost(*report, k.name)
		switch {
		case !slices.Contains(w.answers, answer) && !(told && slices.Contains(w.lost, answer)):
			fmt.Fprintf(&b, "%s (%s) answers %s, want %s", k.symbol(), k.slot, answer, strings.Join(w.answers, " or "))
			if w.lost != nil && report != nil {
				fmt.Fprintf(&b, ", or %s and the name told as lost", strings.Join(w.lost, " or "))
			}
			b.WriteString("\n")
		case w.told && values && !HasName(*report, k.name):
			fmt.Fprintf(&b, "%s (%s) has lost its value, and the report does not name it\n", k.symbol(), k.slot)
		}
	}
	return b.String()
}

func sorted(wants map[key]want) []key {
	return slices.SortedFunc(maps.Keys(wants), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.pkg, b.pkg), cmp.Compare(a.slot, b.slot), cmp.Compare(a.name, b.name))
	})
}

// lostPart begins where a report turns from what is there to what is not.
var lostPart = regexp.MustCompile(`(?is)\b(not restored|lost|gone|not in it|not in this file)\b.*`)

// ToldLost reports whether a report names name as lost.
func ToldLost(report, name string) bool { return HasName(lostPart.FindString(report), name) }

// HasName reports whether text has the name of a symbol, by itself.
func HasName(text, name string) bool {
	return regexp.MustCompile(`(?i)(^|[^\w*+-])` + regexp.QuoteMeta(name) + `($|[^\w*+-])`).MatchString(text)
}
