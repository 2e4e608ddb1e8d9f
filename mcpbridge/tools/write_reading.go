package tools

import (
	"fmt"
	"unicode/utf8"

	"swank-mcp/mcpbridge/syntax"
	"swank-mcp/swank/lisp"
)

// stretch is a part of a file that is read in one way, from an offset on.
type stretch struct {
	from int
	c    syntax.Case
	odd  bool // not as in a file that sets nothing of the reader's
}

// stretches asks the image how the parts of a file with that text are read.
func (w *writing) stretches(text string) ([]stretch, error) {
	if known := w.read[text]; known != nil {
		return known, nil
	}
	readings, err := w.Session.FileReadings(w.ctx, text)
	if err != nil {
		return nil, w.lookupFailed(err, "name", w.name)
	}
	all := []stretch{{c: syntax.Upcase}}
	at, characters := 0, 0
	for _, r := range readings {
		for ; characters < r.From && at < len(text); characters++ {
			_, n := utf8.DecodeRuneInString(text[at:])
			at += n
		}
		all = append(all, stretch{at, syntax.Case(r.Case), r.Odd})
	}
	w.read[text] = all
	return all, nil
}

// stretchAt returns the last of all that begins at offset or before it.
func stretchAt(all []stretch, offset int) (s stretch) {
	for _, next := range all {
		if next.from <= offset {
			s = next
		}
	}
	return s
}

// reading returns the Reading of a file with that text.
func (w *writing) reading(text string) (syntax.Reading, error) {
	all, err := w.stretches(text)
	return syntax.Reading{Has: w.feature, Case: func(offset int) syntax.Case { return stretchAt(all, offset).c }}, err
}

// readAs returns the Reading of a text that is read with one case throughout; "" means Upcase.
func (w *writing) readAs(c syntax.Case) syntax.Reading {
	if c == "" {
		c = syntax.Upcase
	}
	return syntax.Reading{Has: w.feature, Case: func(int) syntax.Case { return c }}
}

// fit makes sure that f is read at an offset of t, where pkg is current, as it was when it
// was evaluated. If it has to be printed anew for that, it is.
func (w *writing) fit(source *lisp.Source, f *form, t *text, at int, where, pkg string) error {
	all, err := w.stretches(t.after)
	if err != nil || source.Case == "" && !stretchAt(all, at).odd {
		return err
	}
	written, err := w.Session.Writable(w.ctx, w.name, w.Text("package"), source, f.text, f.pkg,
		lisp.WritePlace{File: t.after, At: utf8.RuneCountInString(t.after[:at]), Package: orUser(pkg)})
	if err != nil {
		return w.lookupFailed(err, "name", w.name)
	}
	switch {
	case written.Missing != "":
		return w.missing(source, f, where, orUser(pkg), written.Missing)
	case written.Unknown > 0:
		return w.refuse("READTABLE-UNKNOWN", nextCall("load-file", "path", t.path), "Line %d of the file may set the readtable, in a way that is not known without loading it, so it is not known how the %s is read at %s. Write it there yourself and load the file.", written.Unknown, source.Label, where)
	case written.Difference != "":
		return w.refuse("READ-OTHERWISE", nextCall("load-file", "path", t.path), "%s is read with another readtable than the %s was evaluated with: %s. Write it there yourself and load the file.", where, source.Label, written.Difference)
	case written.Form != "":
		f.text, f.Column = written.Form, 1
		w.said = append(w.said, fmt.Sprintf("; Printed anew, without comments, for %s is read with another readtable than the %s was evaluated with.", where, source.Label))
	}
	f.fits = true
	return nil
}

func (w *writing) missing(source *lisp.Source, f *form, where, pkg, missing string) error {
	return w.refuse("PACKAGE-ERROR", "", "%s is in the package %s, and the %s was evaluated in %s; the image has no package %s.",
		where, pkg, source.Label, f.pkg, missing)
}
