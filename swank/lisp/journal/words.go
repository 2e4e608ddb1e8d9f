package journal

import (
	"fmt"
	"slices"
	"strings"
)

// Definitions counts the names, systems aside.
func (j *Journal) Definitions() int { return j.definitions(nil) }

// definitions counts the names, systems aside, and without those of entries
// that left leaves out.
func (j *Journal) definitions(left map[*Entry]string) int {
	n := 0
	for k, e := range j.byKey {
		kind, _, _ := strings.Cut(k, " ")
		if left[e] == "" && e.Bad == "" && !slices.Contains([]string{"(:SYSTEM", "(:FORM", "(:PACKAGE", "(:FEATURE"}, kind) {
			n++
		}
	}
	return n
}

// Kept tells in a sentence or two what a new image will have of the session.
func (j *Journal) Kept() string {
	if j.live == 0 {
		return j.Nothing()
	}
	text := fmt.Sprintf("Kept: %s, evaluated again in the new image.", j.Summary())
	if vars := j.names(":VARIABLE"); len(vars) > 0 {
		text += fmt.Sprintf(" Lost: values given after the definition (%s start anew), other objects, threads%s.", listedVariables(vars), j.lost())
	} else {
		text += fmt.Sprintf(" Lost: objects and threads%s.", j.lost())
	}
	return text + j.overflow()
}

// notRestored is how many of those that have not come back are named.
const notRestored = 500

// Restored tells in a sentence or more what of the session a new image has. Why
// says of entries that they have not come back, and for what reason, which brief
// makes short: the session has them no more.
func (j *Journal) Restored(why map[*Entry]string, brief func(string) string) string {
	text := fmt.Sprintf("Restored: %s.", j.summaryWithout(why))
	vars := slices.DeleteFunc(j.names(":VARIABLE"), func(name string) bool {
		return why[j.byKey["(:VARIABLE . "+name+")"]] != ""
	})
	if len(vars) > 0 {
		text += fmt.Sprintf(" Variables have the values of their definitions again (%s); other values", listedVariables(vars))
	} else {
		text += " Values"
	}
	text += ", objects and threads are gone" + j.lost() + "." + j.overflow()
	return text + j.notBack(why, brief)
}

// BackAgain tells in a sentence or more what of j, which was defined after what an image
// has, is back. Why and brief are those of [Journal.Restored].
func (j *Journal) BackAgain(why map[*Entry]string, brief func(string) string) string {
	return fmt.Sprintf("Evaluated again: %s.", j.summaryWithout(why)) + j.notBack(why, brief)
}

// notBack names the entries that have not come back.
func (j *Journal) notBack(why map[*Entry]string, brief func(string) string) (text string) {
	var lost []string
	told := map[*Entry]bool{}
	for _, e := range j.All() {
		if w := why[e]; w != "" && !told[e] {
			told[e] = true
			var names []string
			for _, key := range e.Keys {
				names = append(names, InWords(key))
			}
			lost = append(lost, fmt.Sprintf("%s (%s)", strings.Join(names, ", "), brief(w)))
		}
	}
	if len(lost) > 0 {
		text = " Not restored: " + atMost(notRestored, lost) + "."
	}
	return text
}

// overflow tells of entries that the journal had no room for.
func (j *Journal) overflow() string {
	if j.dropped == 0 {
		return ""
	}
	return fmt.Sprintf(" The %d oldest entries were more than the journal holds; they are lost.", j.dropped)
}

// Nothing tells that there is nothing to bring back.
func (j *Journal) Nothing() string {
	return "The session had nothing to bring back; values, objects and threads are gone" + j.lost() + "."
}

// lost names the definitions that are lost, as the end of a list.
func (j *Journal) lost() string {
	var names []string
	for _, l := range j.losses {
		if l.Why == whyAssigned {
			names = append(names, keyName(l.Key))
		}
	}
	others := lossesInWords(slices.DeleteFunc(slices.Clone(j.losses), func(l Loss) bool { return l.Why == whyAssigned }))
	text := ""
	if len(names) > 0 {
		text += "; so are the variables that an assignment made: " + listedVariables(names)
	}
	if len(others) > 0 {
		text += "; and these definitions, which have no source to evaluate again: " + listedVariables(others)
	}
	if j.unnamed > 0 {
		text += fmt.Sprintf(", and %d that are not named", j.unnamed)
	}
	return text
}

// String returns the name in words and the reason.
func (l Loss) String() string { return fmt.Sprintf("%s (%s)", InWords(l.Key), l.Why) }

// lossesInWords is a name and a reason for each.
func lossesInWords(losses []Loss) []string {
	var words []string
	for _, l := range losses {
		words = append(words, l.String())
	}
	return words
}

// Summary tells in words what there is: "3 definitions and the system alexandria".
func (j *Journal) Summary() string { return j.summaryWithout(nil) }

// summaryWithout is the summary of what is no key of left.
func (j *Journal) summaryWithout(left map[*Entry]string) string {
	var parts []string
	if n := j.definitions(left); n == 1 {
		parts = append(parts, "1 definition")
	} else if n > 1 {
		parts = append(parts, fmt.Sprintf("%d definitions", n))
	}
	systems := slices.DeleteFunc(j.names(":SYSTEM"), func(name string) bool {
		return left[j.byKey[systemKey(name)]] != ""
	})
	switch len(systems) {
	case 0:
	case 1:
		parts = append(parts, "the system "+systems[0])
	default:
		parts = append(parts, "the systems "+listed(systems))
	}
	if len(parts) == 0 && len(left) > 0 {
		return "nothing"
	}
	if len(parts) == 0 {
		return "the session's packages and declarations"
	}
	return strings.Join(parts, " and ")
}

// InWords returns a key in words: function FOO.
func InWords(key string) string {
	kind, name := keyParts(key)
	return strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(kind, ":")), "-", " ") + " " + name
}

// listed names at most ten.
func listed(names []string) string { return atMost(10, names) }

// listedVariables names at most a hundred: what is lost is to be known by name.
func listedVariables(names []string) string { return atMost(100, names) }

func atMost(n int, names []string) string {
	if len(names) <= n {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:n], ", "), len(names)-n)
}

// Names returns what is defined, in words, in order: "function F".
func (j *Journal) Names() (names []string) {
	for _, e := range j.All() {
		for _, k := range e.Keys {
			if name := InWords(k); !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}
