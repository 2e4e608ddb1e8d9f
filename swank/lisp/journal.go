package lisp

import (
	"fmt"
	"slices"
	"strings"
)

// Bounds of a journal. The oldest entries make room.
const (
	journalEntries = 200_000
	journalBytes   = 16 << 20

	journalLosses = 1000 // names that are told as lost
)

// journal is the source of what a session has defined, the newest of each name
// at the place of the first: what is evaluated again in a new image when the
// old one has died, or in another Lisp. It holds no code with other effects;
// the helper's journal.lisp sees to that. It belongs to the holder of the
// session's turn.
type journal struct {
	// In order; nil where one is gone. The newest source of a name takes the
	// place of the one before, because what came between may need it: a macro,
	// a special variable. It stands at the end as well, because it may itself
	// need what came between.
	places []*entry
	byKey  map[string]*entry
	live   int // entries
	empty  int // places
	bytes  int
	pkg    string

	losses  []loss // what has no source
	unnamed int    // more of those than are kept
	dropped int    // entries that made room
}

// loss is a definition without source to evaluate again.
type loss struct {
	key string
	why string // the helper's words
}

// whyAssigned is the helper's word for a variable that an assignment made.
const whyAssigned = "an assignment made it"

// entry is one top level form.
type entry struct {
	keys []string // printed (KIND . NAME) of what it defines, those not superseded
	text string
	pkg  string // package it was read in
	runs bool   // evaluating it runs code of the user's around the definitions

	files []string // that define a system and what it needs, where ASDF would not find them

	without []string // keys that it defines and that are not to be changed by it any more

	ms  int64  // how long its evaluation took, in milliseconds
	bad string // why it is not evaluated again; "" if it is
	own bool   // it changes functions of the bridge's own
}

// once reports whether an entry must not be evaluated twice, because that may
// give other values.
func (e *entry) once() bool {
	return e.runs || slices.ContainsFunc(e.keys, func(k string) bool {
		kind, _, _ := strings.Cut(k, " ")
		return slices.Contains([]string{"(:VARIABLE", "(:CONSTANT", "(:STRUCTURE", "(:SYSTEM"}, kind)
	})
}

// add adds an entry that takes no time.
func (j *journal) add(keys []string, text, pkg string) {
	j.addEntry(&entry{keys: keys, text: text, pkg: pkg})
}

// addEntry puts an entry in the place of the older ones that it supersedes, and
// at the end.
func (j *journal) addEntry(e *entry) {
	if j.byKey == nil {
		j.byKey = map[string]*entry{}
	}
	keys := e.keys
	e.keys = nil
	place := -1
	for _, k := range keys {
		old := j.byKey[k]
		if old == e {
			continue
		}
		at := j.forget(k)
		if at >= 0 && (place < 0 || at < place) {
			place = at
		}
		if old != nil && len(old.keys) > 0 {
			old.without = append(old.without, k) // it may be evaluated later than e
		}
		j.byKey[k] = e
		e.keys = append(e.keys, k)
		j.unlose(k)
	}
	j.live++
	j.bytes += len(e.text)
	if place >= 0 {
		j.places[place] = e
		j.empty--
	}
	if place < 0 || slices.ContainsFunc(j.places[place+1:], (*entry).there) {
		j.places = append(j.places, e)
	}
	for i := 0; (j.live > journalEntries || j.bytes > journalBytes) && i < len(j.places); i++ {
		if old := j.places[i]; old != nil && old != e {
			j.dropped++
			for _, k := range slices.Clone(old.keys) {
				j.forget(k)
			}
		}
	}
	if j.empty > len(j.places)/2+16 {
		j.places = slices.DeleteFunc(j.places, func(e *entry) bool { return e == nil })
		j.empty = 0
	}
}

func (e *entry) there() bool { return e != nil }

// forget takes the name key from the entry that has it, and drops the entry if
// that was its last. It returns the first place of a dropped entry, or -1.
func (j *journal) forget(key string) (place int) {
	e := j.byKey[key]
	if e == nil {
		j.unlose(key)
		return -1
	}
	delete(j.byKey, key)
	e.keys = slices.DeleteFunc(e.keys, func(k string) bool { return k == key })
	if len(e.keys) > 0 {
		return -1
	}
	place = -1
	for i, other := range j.places {
		if other == e {
			j.places[i] = nil
			j.empty++
			if place < 0 {
				place = i
			}
		}
	}
	j.live--
	j.bytes -= len(e.text)
	return place
}

// drop takes out what a reset has undone: the entries that there were before it,
// and variables. What has been defined since stays.
func (j *journal) drop(entries []*entry, losses []loss) {
	for _, e := range entries {
		for _, k := range slices.Clone(e.keys) {
			if j.byKey[k] == e {
				j.forget(k)
			}
		}
	}
	j.losses = slices.DeleteFunc(j.losses, func(l loss) bool { return slices.Contains(losses, l) })
}

// reset leaves what a reset leaves in the image: the systems.
func (j *journal) reset() {
	systems := slices.DeleteFunc(j.all(), func(e *entry) bool { return !e.system() })
	*j = journal{places: systems, live: len(systems), byKey: map[string]*entry{}}
	for _, e := range systems {
		j.bytes += len(e.text)
		for _, k := range e.keys {
			j.byKey[k] = e
		}
	}
}

// system reports whether an entry is that of a system and no definition's.
func (e *entry) system() bool { return strings.HasPrefix(e.keys[0], "(:SYSTEM") }

// undefine forgets a key that nothing replaces: what else its entry defines stays.
func (j *journal) undefine(key string) {
	e := j.byKey[key]
	j.forget(key)
	if e != nil && len(e.keys) > 0 {
		e.without = append(e.without, key)
	}
}

// lose notes a definition that has no source; one that it has replaced is no
// more.
func (j *journal) lose(key, why string) {
	if why == whyAssigned && j.byKey[key] != nil {
		return // it has a first value
	}
	j.undefine(key)
	if len(j.losses) < journalLosses {
		j.losses = append(j.losses, loss{key, why})
	} else {
		j.unnamed++
	}
}

func (j *journal) unlose(key string) {
	j.losses = slices.DeleteFunc(j.losses, func(l loss) bool { return l.key == key })
}

// all returns the entries in the order in which to evaluate them; one may come
// twice.
func (j *journal) all() []*entry {
	seen := map[*entry]bool{}
	return slices.DeleteFunc(j.placed(), func(e *entry) bool {
		again := seen[e] && e.once()
		seen[e] = true
		return again
	})
}

// placed returns the entries in the order of their places.
func (j *journal) placed() []*entry {
	all := slices.DeleteFunc(slices.Clone(j.places), func(e *entry) bool { return e == nil })
	return slices.Compact(all)
}

func systemKey(name string) string { return "(:SYSTEM . " + name + ")" }

// addSystem notes a system that was loaded, and the files of definitions that
// ASDF was told of.
func (j *journal) addSystem(name string, files ...string) {
	call := newHelperCall("LOAD").str(name)
	for _, file := range files {
		call.str(file)
	}
	text := strings.Replace(call.String(), "(|SWANK-MCP|:|LOAD|", "(|SWANK-MCP|::|RESTORE-SYSTEM|", 1)
	j.add([]string{systemKey(name)}, text, evalPackage)
	j.byKey[systemKey(name)].files = files
}

// names returns the names of the given kind, such as :VARIABLE, in order.
func (j *journal) names(kind string) []string {
	var names []string
	seen := map[*entry]bool{}
	for _, e := range j.all() {
		if seen[e] {
			continue
		}
		seen[e] = true
		for _, k := range e.keys {
			if strings.HasPrefix(k, "("+kind+" . ") {
				names = append(names, keyName(k))
			}
		}
	}
	return names
}

// keyName is the name in a key.
func keyName(key string) string {
	_, name := keyParts(key)
	return name
}

// definitions counts the names, systems aside, and without those of entries
// that left leaves out.
func (j *journal) definitions(left map[*entry]string) int {
	n := 0
	for k, e := range j.byKey {
		kind, _, _ := strings.Cut(k, " ")
		if left[e] == "" && e.bad == "" && !slices.Contains([]string{"(:SYSTEM", "(:FORM", "(:PACKAGE", "(:FEATURE"}, kind) {
			n++
		}
	}
	return n
}

// kept tells in a sentence or two what a new image will have of the session.
func (j *journal) kept() string {
	if j.live == 0 {
		return j.nothing()
	}
	text := fmt.Sprintf("Kept: %s, evaluated again in the new image.", j.summary())
	if vars := j.names(":VARIABLE"); len(vars) > 0 {
		text += fmt.Sprintf(" Lost: values given after the definition (%s start anew), other objects, threads%s.", listedVariables(vars), j.lost())
	} else {
		text += fmt.Sprintf(" Lost: objects and threads%s.", j.lost())
	}
	return text + j.overflow()
}

// overflow tells of entries that the journal had no room for.
func (j *journal) overflow() string {
	if j.dropped == 0 {
		return ""
	}
	return fmt.Sprintf(" The %d oldest entries were more than the journal holds; they are lost.", j.dropped)
}

// nothing tells that there is nothing to bring back.
func (j *journal) nothing() string {
	return "The session had nothing to bring back; values, objects and threads are gone" + j.lost() + "."
}

// lost names the definitions that are lost, as the end of a list.
func (j *journal) lost() string {
	var names []string
	for _, l := range j.losses {
		if l.why == whyAssigned {
			names = append(names, keyName(l.key))
		}
	}
	others := lossesInWords(slices.DeleteFunc(slices.Clone(j.losses), func(l loss) bool { return l.why == whyAssigned }))
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

// lossesInWords is a name and a reason for each.
func lossesInWords(losses []loss) []string {
	var words []string
	for _, l := range losses {
		words = append(words, fmt.Sprintf("%s (%s)", inWords(l.key), l.why))
	}
	return words
}

// summary tells what there is.
func (j *journal) summary() string { return j.summaryWithout(nil) }

// summaryWithout is the summary of what is no key of left.
func (j *journal) summaryWithout(left map[*entry]string) string {
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

// inWords is a key as a reader is told it: function FOO.
func inWords(key string) string {
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
