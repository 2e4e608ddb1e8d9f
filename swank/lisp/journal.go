package lisp

import (
	"fmt"
	"slices"
	"strings"
)

// Bounds of a journal. The oldest entries make room.
const (
	journalEntries = 20_000
	journalBytes   = 16 << 20
)

// journal is the source of what a session has defined, in the order of the
// newest definition of each name: what is evaluated again in a new image when
// the old one has died. It holds no code with other effects; the helper's
// journal.lisp sees to that. It belongs to the holder of the session's turn.
type journal struct {
	entries []*entry // nil where an entry has been superseded
	byKey   map[string]*entry
	live    int
	bytes   int
	dropped int // entries that made room
	pkg     string
}

// entry is one top level form.
type entry struct {
	keys []string // printed (KIND . NAME) of what it defines, those not superseded
	text string
	pkg  string // package it was read in
}

// add appends an entry and takes its names from older ones.
func (j *journal) add(keys []string, text, pkg string) {
	if j.byKey == nil {
		j.byKey = map[string]*entry{}
	}
	e := &entry{keys: slices.Clone(keys), text: text, pkg: pkg}
	for _, k := range keys {
		if old := j.byKey[k]; old != nil {
			j.forget(old, k)
		}
		j.byKey[k] = e
	}
	j.entries = append(j.entries, e)
	j.live++
	j.bytes += len(text)
	for i := 0; (j.live > journalEntries || j.bytes > journalBytes) && i < len(j.entries)-1; i++ {
		if old := j.entries[i]; old != nil {
			j.dropped++
			for _, k := range slices.Clone(old.keys) {
				j.forget(old, k)
			}
		}
	}
	if len(j.entries) > 2*j.live+16 {
		j.entries = slices.DeleteFunc(j.entries, func(e *entry) bool { return e == nil })
	}
}

// forget takes the name key from e, and drops e if that was its last.
func (j *journal) forget(e *entry, key string) {
	delete(j.byKey, key)
	e.keys = slices.DeleteFunc(e.keys, func(k string) bool { return k == key })
	if len(e.keys) > 0 {
		return
	}
	if i := slices.Index(j.entries, e); i >= 0 {
		j.entries[i] = nil
		j.live--
		j.bytes -= len(e.text)
	}
}

// all returns the entries in order.
func (j *journal) all() []*entry {
	return slices.DeleteFunc(slices.Clone(j.entries), func(e *entry) bool { return e == nil })
}

// addSystem notes a system that was loaded.
func (j *journal) addSystem(name string) {
	call := newHelperCall("LOAD").str(name)
	text := strings.Replace(call.String(), "(|SWANK-MCP|:|LOAD|", "(|SWANK-MCP|::|RESTORE-SYSTEM|", 1)
	j.add([]string{"(:SYSTEM . " + name + ")"}, text, evalPackage)
}

// names returns the names of the given kind, such as :VARIABLE, in order.
func (j *journal) names(kind string) []string {
	var names []string
	for _, e := range j.all() {
		for _, k := range e.keys {
			if name, ok := strings.CutPrefix(k, "("+kind+" . "); ok {
				names = append(names, strings.TrimSuffix(name, ")"))
			}
		}
	}
	return names
}

// definitions counts the names, systems aside.
func (j *journal) definitions() int {
	n := 0
	for k := range j.byKey {
		if !strings.HasPrefix(k, "(:SYSTEM") && !strings.HasPrefix(k, "(:FORM") {
			n++
		}
	}
	return n
}

// kept tells in a sentence or two what a new image will have of the session.
func (j *journal) kept() string {
	if j.live == 0 {
		return "The session had no definitions to bring back; values, objects and threads are gone."
	}
	text := fmt.Sprintf("Kept: %s, evaluated again in the new image.", j.summary())
	if vars := j.names(":VARIABLE"); len(vars) > 0 {
		text += fmt.Sprintf(" Lost: values given after the definition (%s start anew), other objects, threads.", listed(vars))
	} else {
		text += " Lost: objects and threads."
	}
	if j.dropped > 0 {
		text += fmt.Sprintf(" The %d oldest entries were more than the journal holds.", j.dropped)
	}
	return text
}

func (j *journal) summary() string {
	var parts []string
	if n := j.definitions(); n == 1 {
		parts = append(parts, "1 definition")
	} else if n > 1 {
		parts = append(parts, fmt.Sprintf("%d definitions", n))
	}
	switch systems := j.names(":SYSTEM"); len(systems) {
	case 0:
	case 1:
		parts = append(parts, "the system "+systems[0])
	default:
		parts = append(parts, "the systems "+listed(systems))
	}
	if len(parts) == 0 {
		return "the session's packages and declarations"
	}
	return strings.Join(parts, " and ")
}

// listed names at most ten.
func listed(names []string) string {
	if len(names) <= 10 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:10], ", "), len(names)-10)
}
