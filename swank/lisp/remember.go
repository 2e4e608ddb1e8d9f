package lisp

import (
	"context"
	"fmt"
	"slices"
	"time"

	"swank-mcp/swank/lisp/helper"
	"swank-mcp/swank/lisp/journal"
)

// maxParts bounds for how many parts of the journal an image is asked after one answer, which a
// program may have changed that never ends. What is left comes with a later answer.
const maxParts = 500

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
	for n, part := 1, a.Journal; len(part) > 0 && n <= maxParts; n++ {
		for _, d := range part {
			j.Add(d.entry())
		}
		part = e.rest(a)
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

// rest returns the next part of the journal, of which the answer has only the beginning if there
// is much: nil when there is no more, or the image does not tell, of which the next result tells.
func (e *evaluation) rest(a *wireAnswer) (part []wireEntry) {
	if !a.More {
		return nil
	}
	bounded, cancel := e.inst.forAnswer(context.Background())
	defer cancel()
	answer, err := e.inst.askOn(bounded, e.inst.controlThread(), helper.NewCall("TAKE-JOURNAL").Str(e.s.name))
	if err == nil {
		err = helper.Decode(answer, &part)
	}
	switch {
	case err == nil:
		return part
	case e.inst.over():
		e.s.notes = append(e.s.notes, "The image ended before it had told all that was defined: of that, what was defined last is not brought back.")
	default:
		e.s.notes = append(e.s.notes, fmt.Sprintf("The image has not yet told all that was defined (%v). It tells the rest with a later reply; if it ends before that, the rest is not brought back.", err))
	}
	return nil
}
