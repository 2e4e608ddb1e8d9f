package tools

import (
	"slices"

	"swank-mcp/mcpbridge/syntax"
	"swank-mcp/swank/lisp"
)

// whole is where d stands with the forms around it that may bind names.
func whole(d *syntax.Definition) syntax.Extent {
	if d.Outer.End > 0 {
		return d.Outer
	}
	return d.Extent
}

// around returns where the form that f takes the place of stands in t: the definition at
// p, or all of the form around it. f becomes all of its own form, then. What a form around
// a definition binds belongs to the definition, so it is not replaced alone if these
// differ.
func (w *writing) around(source *lisp.Source, f *form, t *text, p place) (syntax.Extent, error) {
	ours, theirs := whole(&f.Definition), whole(&p.Definition)
	switch {
	case ours == f.Extent && theirs == p.Extent:
		return p.Extent, nil
	case ours == f.Extent && w.force:
		return p.Extent, nil
	case ours == f.Extent:
		code := t.after[theirs.Start:p.Start] + f.text + t.after[p.End:theirs.End]
		forced := ""
		if w.trial(w.file, true) == nil {
			forced = ", or force it to take the place of the definition alone"
		}
		return theirs, w.refuse("FORM-AROUND", nextCall("evaluate-lisp", "code", code, "package", orUser(p.Package)),
			"%s stands in a form that may bind names, and the %s was evaluated without it. Evaluate it in that form%s.", p, source.Label, forced)
	case theirs != p.Extent && syntax.SameCode(w.ctx, without(source.Text, ours, f.Extent), without(t.after, theirs, p.Extent)):
		return p.Extent, nil
	}
	reading, err := w.reading(t.after)
	if err != nil {
		return theirs, err
	}
	if !sameDefinitions(w.definitionsIn(source.Text, ours, w.readAs(syntax.Case(source.Case))), w.definitionsIn(t.after, theirs, reading)) {
		return theirs, w.refuse("FORM-AROUND", "", "%s and the %s stand in different forms, and one of these defines something else, too. Evaluate all of the file's form, changed, and write what it defines.", p, source.Label)
	}
	f.text, f.Column = source.Text[ours.Start:ours.End], ours.Column
	return theirs, nil
}

// without is the text of outer but for inner, which is in it.
func without(text string, outer, inner syntax.Extent) string {
	return text[outer.Start:inner.Start] + " " + text[inner.End:outer.End]
}

func (w *writing) definitionsIn(text string, e syntax.Extent, r syntax.Reading) []syntax.Definition {
	there := syntax.Reading{Has: r.Has, Case: func(offset int) syntax.Case { return r.Case(e.Start + offset) }}
	all, _, _ := syntax.Definitions(w.ctx, text[e.Start:e.End], there)
	return all
}

// sameDefinitions reports whether a and b define the same, in the same order.
func sameDefinitions(a, b []syntax.Definition) bool {
	return slices.EqualFunc(a, b, func(x, y syntax.Definition) bool { return x.Same(&y) })
}
