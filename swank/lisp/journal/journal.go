package journal

import (
	"slices"
	"strings"
	"time"
)

// Bounds of a journal. The oldest entries make room.
const (
	maxEntries = 200_000
	maxBytes   = 16 << 20

	maxLosses = 1000 // losses that are kept by name
)

// Journal is the source of what a session has defined, the newest of each name
// at the place of the first: what is evaluated again in a new image when the
// old one has died, or in another Lisp. It holds no code with other effects;
// the helper's journal.lisp sees to that. The zero value is empty. It is not
// safe for concurrent use: it belongs to the holder of the session's turn.
type Journal struct {
	Package string // the session's current package; "" if it has had none

	// In order; nil where one is gone. The newest source of a name takes the
	// place of the one before, because what came between may need it: a macro,
	// a special variable. It stands at the end as well, because it may itself
	// need what came between.
	places []*Entry
	at     map[*Entry]ends // nil until it is asked for
	oldest int             // the places before this one are empty
	byKey  map[string]*Entry
	live   int // entries
	empty  int // places
	bytes  int
	steps  int // places that were looked at so far, for tests

	losses  []Loss // what has no source
	unnamed int    // more of those than are kept
	dropped int    // entries that made room
	added   int64  // entries so far
}

// ends are the two places of an entry, or the one.
type ends struct{ first, last int32 }

// Loss is a definition without source to evaluate again.
type Loss struct {
	_   struct{} `sexp:",list"`
	Key string   // as in Entry
	Why string   // the helper's words
}

// userPackage is the package in which what we write ourselves is read, and for
// which names of keys are printed.
const userPackage = "COMMON-LISP-USER"

// whyAssigned is the helper's word for a variable that an assignment made.
const whyAssigned = "an assignment made it"

// Entry is one top level form. The journal that has it changes its Keys.
type Entry struct {
	Keys    []string // printed (KIND . NAME) of what it defines, those not superseded
	Text    string
	Package string        // that it was read in
	Runs    bool          // evaluating it runs code of the user's around the definitions
	Took    time.Duration // how long its evaluation took, by whole milliseconds
	Bad     string        // why it is not evaluated again; "" if it is
	Own     bool          // it changes functions of the bridge's own
	Order   int64         // its number among those of its image; 0 if that is gone

	number  int64    // among all that the journal has had, from 1
	files   []string // that define a system and what it needs, where ASDF would not find them
	without []string // keys that it defines and that are not to be changed by it any more
}

// Once reports whether an entry must not be evaluated twice, because that may
// give other values.
func (e *Entry) Once() bool {
	return e.Runs || slices.ContainsFunc(e.Keys, func(k string) bool {
		kind, _, _ := strings.Cut(k, " ")
		return slices.Contains([]string{"(:VARIABLE", "(:CONSTANT", "(:STRUCTURE", "(:SYSTEM"}, kind)
	})
}

// add adds an entry that takes no time.
func (j *Journal) add(keys []string, text, pkg string) {
	j.Add(&Entry{Keys: keys, Text: text, Package: pkg})
}

// NewImage forgets the order of what the image before has defined.
func (j *Journal) NewImage() {
	for _, e := range j.byKey {
		e.Order = 0
	}
}

// Add puts an entry in the place of the older ones that it supersedes, and
// at the end. It gets no key that an entry of a higher order has: jobs tell late what
// they have defined.
func (j *Journal) Add(e *Entry) {
	if j.byKey == nil {
		j.byKey = map[string]*Entry{}
	}
	keys := e.Keys
	e.Keys = nil
	place := -1
	for _, k := range keys {
		old := j.byKey[k]
		if old == e {
			continue
		}
		if old != nil && old.Order > e.Order {
			e.without = append(e.without, k)
			continue
		}
		at := j.forget(k)
		if at >= 0 && (place < 0 || at < place) {
			place = at
		}
		if old != nil && len(old.Keys) > 0 {
			old.without = append(old.without, k) // it may be evaluated later than e
		}
		j.byKey[k] = e
		e.Keys = append(e.Keys, k)
		j.unlose(k)
	}
	if len(e.Keys) == 0 {
		return
	}
	j.added++
	e.number = j.added
	j.live++
	j.bytes += len(e.Text)
	if place >= 0 && place < len(j.places) { // else nothing stands behind it
		j.places[place] = e
		j.empty--
		j.oldest = min(j.oldest, place)
		j.stands(e, place)
	}
	j.places = append(j.places, e)
	j.stands(e, len(j.places)-1)
	for i := j.oldest; (j.live > maxEntries || j.bytes > maxBytes) && i < len(j.places); i++ {
		j.steps++
		switch old := j.places[i]; {
		case old == nil && i == j.oldest:
			j.oldest++
		case old != nil && old != e:
			j.dropped++
			for _, k := range slices.Clone(old.Keys) {
				j.forget(k)
			}
		}
	}
	if j.empty > len(j.places)/2+16 {
		j.steps += len(j.places)
		j.places = slices.DeleteFunc(j.places, func(e *Entry) bool { return e == nil })
		j.empty, j.oldest, j.at = 0, 0, nil
	}
}

// stands notes that e has that place, which is its last one so far.
func (j *Journal) stands(e *Entry, place int) {
	if j.at == nil {
		return
	}
	its, known := j.at[e]
	if !known {
		its.first = int32(place)
	}
	its.last = int32(place)
	j.at[e] = its
}

// leave empties the places of e, and returns the first.
func (j *Journal) leave(e *Entry) (place int) {
	if j.at == nil {
		j.at = make(map[*Entry]ends, j.live)
		for i, e := range j.places {
			j.steps++
			if e != nil {
				j.stands(e, i)
			}
		}
	}
	its, known := j.at[e]
	if !known {
		return -1
	}
	delete(j.at, e)
	for _, i := range []int32{its.last, its.first} {
		if j.places[i] == e { // not yet
			j.places[i] = nil
			j.empty++
		}
	}
	end := len(j.places)
	for ; end > 0 && j.places[end-1] == nil; end-- {
		j.steps++
		j.empty--
	}
	j.places = j.places[:end]
	j.oldest = min(j.oldest, end)
	return int(its.first)
}

// forget takes the name key from the entry that has it, and drops the entry if
// that was its last. It returns the first place of a dropped entry, or -1.
func (j *Journal) forget(key string) (place int) {
	e := j.byKey[key]
	if e == nil {
		j.unlose(key)
		return -1
	}
	delete(j.byKey, key)
	e.Keys = slices.DeleteFunc(e.Keys, func(k string) bool { return k == key })
	if len(e.Keys) > 0 {
		return -1
	}
	j.live--
	j.bytes -= len(e.Text)
	return j.leave(e)
}

// Mark is what is in a journal at one moment, systems aside.
type Mark struct {
	entries []*Entry
	losses  []Loss
}

// Mark returns what a reset that is done later will have undone.
func (j *Journal) Mark() Mark {
	return Mark{slices.DeleteFunc(j.All(), (*Entry).System), slices.Clone(j.losses)}
}

// Drop takes out what a reset has undone that was sent when m was taken: the
// entries, and variables. What has been defined since stays.
func (j *Journal) Drop(m Mark) {
	for _, e := range m.entries {
		for _, k := range slices.Clone(e.Keys) {
			if j.byKey[k] == e {
				j.forget(k)
			}
		}
	}
	j.losses = slices.DeleteFunc(j.losses, func(l Loss) bool { return slices.Contains(m.losses, l) })
}

// Reset leaves what a reset leaves in the image: the systems.
func (j *Journal) Reset() {
	systems := slices.DeleteFunc(j.All(), func(e *Entry) bool { return !e.System() })
	*j = Journal{places: systems, live: len(systems), byKey: map[string]*Entry{}, added: j.added}
	for _, e := range systems {
		j.bytes += len(e.Text)
		for _, k := range e.Keys {
			j.byKey[k] = e
		}
	}
}

// System reports whether an entry is that of a system and no definition's.
func (e *Entry) System() bool { return strings.HasPrefix(e.Keys[0], "(:SYSTEM") }

// Undefine forgets a key that nothing replaces: what else its entry defines stays.
func (j *Journal) Undefine(key string) {
	e := j.byKey[key]
	j.forget(key)
	if e != nil && len(e.Keys) > 0 {
		e.without = append(e.without, key)
	}
}

// Lose notes a definition that has no source; one that it has replaced is no
// more.
func (j *Journal) Lose(key, why string) {
	if why == whyAssigned && j.byKey[key] != nil {
		return // it has a first value
	}
	j.Undefine(key)
	if len(j.losses) < maxLosses {
		j.losses = append(j.losses, Loss{Key: key, Why: why})
	} else {
		j.unnamed++
	}
}

func (j *Journal) unlose(key string) {
	j.losses = slices.DeleteFunc(j.losses, func(l Loss) bool { return l.Key == key })
}

// All returns the entries in the order in which to evaluate them; one may come
// twice.
func (j *Journal) All() []*Entry {
	seen := map[*Entry]bool{}
	return slices.DeleteFunc(j.placed(), func(e *Entry) bool {
		again := seen[e] && e.Once()
		seen[e] = true
		return again
	})
}

// placed returns the entries in the order of their places.
func (j *Journal) placed() []*Entry {
	all := slices.DeleteFunc(slices.Clone(j.places), func(e *Entry) bool { return e == nil })
	return slices.Compact(all)
}

func systemKey(name string) string { return "(:SYSTEM . " + name + ")" }

// AddSystem notes a system that was loaded, and the paths of definitions that were
// given for it.
func (j *Journal) AddSystem(name string, files ...string) {
	text := "(|SWANK-MCP|::|RESTORE-SYSTEM|"
	for _, s := range slices.Insert(slices.Clone(files), 0, name) {
		text += " " + quoted(s)
	}
	j.add([]string{systemKey(name)}, text+")", userPackage)
	j.byKey[systemKey(name)].files = files
}

// Empty reports whether there is no entry.
func (j *Journal) Empty() bool { return j.live == 0 }

// Dropped is how many of the oldest entries have made room.
func (j *Journal) Dropped() int { return j.dropped }

// ForgetLosses forgets what [Journal.Lose] has noted, when it has been reported.
func (j *Journal) ForgetLosses() { j.losses, j.unnamed = nil, 0 }

// names returns the names of the given kind, such as :VARIABLE, in order.
func (j *Journal) names(kind string) []string {
	var names []string
	seen := map[*Entry]bool{}
	for _, e := range j.All() {
		if seen[e] {
			continue
		}
		seen[e] = true
		for _, k := range e.Keys {
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
