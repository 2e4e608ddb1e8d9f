package lisp

import (
	"context"
	"fmt"
	"slices"
	"time"

	"swank-mcp/swank/lisp/helper"
	"swank-mcp/swank/lisp/journal"
)

// remember notes in the journal what the answer says was defined.
func (e *evaluation) remember(a *wireAnswer) {
	if e.job.learn != nil {
		e.job.learn(a)
		return
	}
	j := &e.s.journal
	for _, system := range slices.Backward(a.Loaded) {
		if len(system) > 0 { // a program may have changed what the image tells
			j.AddSystem(system[0], system[1:]...)
		}
	}
	for _, d := range a.Journal {
		j.Add(d.entry())
	}
	if a.More {
		e.rememberRest()
	}
	for _, l := range a.Lost {
		j.Lose(l.Key, l.Why)
	}
	for _, key := range a.Gone {
		j.Undefine(key)
	}
	if a.Package != nil {
		j.Package = *a.Package
	}
	if e.job.back && a.Error != nil { // the file has more than has come back
		return
	}
	changed := len(a.Loaded)+len(a.Journal)+len(a.Lost)+len(a.Gone) > 0
	file := e.s.kept.Load()
	if later := file.Keep(j, changed, false); later > 0 {
		e.s.keepLater(later)
	}
	if why := file.Failed(); why != e.s.unkept {
		if e.s.unkept = why; why != "" {
			e.s.notes = append(e.s.notes, "What this session has defined was not kept for the next server: "+why+". It is tried again with each evaluation. To save it in another file: save-session {\"file\": \"session.lisp\"}")
		}
	}
}

// entry returns the entry of the journal that d tells of.
func (d *wireEntry) entry() *journal.Entry {
	e := &journal.Entry{Keys: d.Keys, Text: d.Text, Package: d.Package, Runs: d.Runs, Took: time.Duration(d.Ms) * time.Millisecond, Order: d.Order}
	if d.Bridge {
		e.Own, e.Bad = true, "not brought back: it changes the bridge's own functions"
	}
	return e
}

// rememberRest asks the image for the entries of the journal that an answer has left out, part by
// part. All parts have the time of one answer, as a program may have changed an image that tells
// for ever. What is left then comes with a later answer, and the next result tells.
func (e *evaluation) rememberRest() {
	bounded, cancel := e.inst.forAnswer(context.Background())
	defer cancel()
	for {
		var part []wireEntry
		answer, err := e.inst.askOn(bounded, e.inst.controlThread(), helper.NewCall("TAKE-JOURNAL").Str(e.s.name))
		if err == nil {
			err = helper.Decode(answer, &part)
		}
		switch {
		case err == nil && len(part) == 0:
			return
		case err != nil && e.inst.over():
			e.s.notes = append(e.s.notes, "The image ended before it had told all that was defined: of that, what was defined last is not brought back. To see what is back: list-definitions {}")
			return
		case err != nil:
			e.s.notes = append(e.s.notes, fmt.Sprintf("The image has not yet told all that was defined (%v). If it ends now, the rest is not brought back. To have it tell the rest: evaluate-lisp {\"code\": \"(values)\"}", err))
			return
		}
		for _, d := range part {
			e.s.journal.Add(d.entry())
		}
	}
}
