package tools

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"swank-mcp/mcpbridge/syntax"
	"swank-mcp/swank/lisp"
)

// form is a definition that is to be written: its text, the column in which that stood,
// and the package in which it was read.
type form struct {
	syntax.Definition
	text string
	pkg  string
	fits bool // it is read at its place in the file as it was in pkg
}

// place is a form of a file that defines the same.
type place struct {
	path string
	syntax.Definition
}

func (p place) String() string { return fmt.Sprintf("%s:%d", p.path, p.Line) }

// plan finds for each definition of the name the form that it takes the place of.
func (w *writing) plan() error {
	if len(w.sources.Definitions) == 0 {
		text := fmt.Sprintf("This session has not defined %s.", w.name)
		if len(w.sources.Places) > 0 {
			text += "\n" + strings.Join(w.sources.Places, "\n")
		}
		return w.refuse("NOTHING-TO-WRITE", nextCall("find-definition", "name", w.name), "%s", text)
	}
	planned := 0
	for i := range w.sources.Definitions {
		source := &w.sources.Definitions[i]
		f, err := w.formOf(source)
		if err != nil {
			return err
		}
		if f == nil {
			continue // another one's text has it
		}
		planned++
		if err := w.put(source, f); err != nil {
			return err
		}
	}
	if planned == 0 {
		source := w.sources.Definitions[0]
		return w.refuse("NO-SOURCE", "", "The %s was made by code that does not define it by its name:\n%s", source.Label, firstLineOf(source.Text))
	}
	return nil
}

// kindOf is the kind, as of [syntax.Definition.Kind], of what the image has as a kind.
func kindOf(kind string) string {
	switch kind {
	case "macro", "generic-function":
		return "function"
	case "constant", "symbol-macro":
		return "variable"
	case "structure", "condition", "type":
		return "class"
	}
	return kind
}

// formOf finds the form that defines what source is of in its text, the last one of
// several; nil if the text has another definition of the name, of which this is a part.
func (w *writing) formOf(source *lisp.Source) (*form, error) {
	if source.Why != "" {
		return nil, w.refuse("NO-SOURCE", "", "The %s cannot be written: %s.", source.Label, source.Why)
	}
	all, _, ok := syntax.Definitions(w.ctx, source.Text, w.readAs(syntax.Case(source.Case)))
	if !ok {
		return nil, w.refuse("NO-SOURCE", "", "The %s cannot be written: the text that was evaluated is not in the standard syntax.", source.Label)
	}
	kind := kindOf(source.Kind)
	var found *form
	others, sure, several := false, false, false
	for _, d := range all {
		if d.Name != w.sources.Name || d.Setf != source.Setf {
			continue
		}
		others = true
		if d.Kind() != kind && d.Kind() != "" {
			continue
		}
		exact := true
		if kind == "method" {
			var may bool
			if exact, may = ofMethod(&d, source); !may || sure && !exact {
				continue
			}
			several = several || !exact && found != nil && !d.Same(&found.Definition)
		}
		sure = sure || exact
		found = &form{Definition: d, text: source.Text[d.Start:d.End], pkg: source.Package}
		if d.Package != "" {
			found.pkg = d.Package
		}
	}
	switch {
	case found == nil && !others:
		return nil, w.refuse("NO-SOURCE", "", "The %s was made by code that does not define it by its name:\n%s", source.Label, firstLineOf(source.Text))
	case several && !sure:
		return nil, w.refuse("NO-SOURCE", "", "The %s was evaluated with another one whose EQL specializer is computed, so it is not known which form is its; evaluate it alone.", source.Label)
	}
	return found, nil
}

// ofMethod reports whether d, of a DEFMETHOD, has the qualifiers and specializers of
// source, or may have them: of a computed (EQL X) only the image knows the value of X.
func ofMethod(d *syntax.Definition, source *lisp.Source) (exact, may bool) {
	if !slices.Equal(d.Qualifiers, source.Qualifiers) || len(d.Specializers) != len(source.Specializers) {
		return false, false
	}
	exact = true
	for i, ours := range d.Specializers {
		theirs := asWritten(source.Specializers[i])
		if ours == theirs {
			continue
		}
		exact = false
		known := strings.HasPrefix(ours, "(EQL :") || strings.HasPrefix(ours, "(EQL '")
		if known || !strings.HasPrefix(ours, "(EQL ") || !strings.HasPrefix(theirs, "(EQL ") {
			return false, false
		}
	}
	return exact, true
}

// asWritten returns a specializer, as the image prints it, as [syntax.Definition] has it.
func asWritten(specializer string) string {
	all, _, ok := syntax.Definitions(context.Background(), "(defmethod f ((x "+specializer+")))", syntax.Reading{})
	if !ok || len(all) != 1 || len(all[0].Specializers) != 1 {
		return specializer
	}
	return all[0].Specializers[0]
}

func (w *writing) feature(name string) bool { return slices.Contains(w.sources.Features, name) }

func firstLineOf(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

// put plans one definition.
func (w *writing) put(source *lisp.Source, f *form) error {
	places, err := w.places(source, f, w.file)
	if err != nil {
		return err
	}
	switch {
	case len(places) > 1:
		var lines []string
		for _, p := range places {
			lines = append(lines, p.String())
		}
		return w.refuse("TWO-DEFINITIONS", "", "The %s is defined more than once, so it is not known which form to replace: %s.", source.Label, strings.Join(lines, ", "))
	case len(places) == 1:
		return w.replace(source, f, places[0])
	case w.file == "":
		return w.nowhere(source, f)
	}
	if elsewhere, err := w.places(source, f, ""); !w.force && err != nil {
		return err
	} else if !w.force && len(elsewhere) > 0 {
		return w.refuse("DEFINED-ELSEWHERE", w.Asking("name", w.name, "file"), "%s does not define the %s, and %s does.", w.file, source.Label, elsewhere[0])
	}
	t, err := w.load(w.file)
	if err != nil {
		return err
	}
	if f.Bound {
		f.text, f.Column = source.Text, 1
	}
	reading, err := w.reading(t.after)
	if err != nil {
		return err
	}
	_, pkg, _ := syntax.Definitions(w.ctx, t.after, reading)
	if err := w.fit(source, f, t, len(t.after), w.file, pkg); err != nil {
		return err
	}
	if err := w.agree(source, f, t, w.file, pkg); err != nil {
		return err
	}
	w.said = append(w.said, fmt.Sprintf("Added: %s, at the end of %s.", source.Label, w.file))
	t.after, t.has = syntax.Append(t.after, f.text, f.Column), append(t.has, source.Label)
	return nil
}

// places are the forms that define the same as f: in file or, if that is "", in the files
// of the project.
func (w *writing) places(source *lisp.Source, f *form, file string) (found []place, err error) {
	files := []string{file}
	if file == "" {
		files = w.candidates(source)
	}
	broken := ""
	for _, path := range files {
		var text string
		if file != "" {
			t, err := w.load(path)
			if err != nil {
				return nil, err
			}
			text = t.after
		} else if glanced, ok := w.glance(path, f); ok {
			text = glanced
		}
		if text == "" {
			continue
		}
		reading, err := w.reading(text)
		if err != nil {
			return nil, err
		}
		all, _, ok := syntax.Definitions(w.ctx, text, reading)
		if !ok && (broken == "" || path == source.File) {
			broken = path
		}
		for _, d := range all {
			if d.Same(&f.Definition) && w.means(&d) {
				found = append(found, place{path, d})
			}
		}
	}
	if broken != "" && (len(found) == 0 || broken == source.File) {
		if _, err := w.load(broken); err != nil { // what is in it is not known
			return nil, err
		}
	}
	if own := slices.DeleteFunc(slices.Clone(found), func(p place) bool { return p.path != source.File }); len(own) > 0 {
		return own, nil
	}
	return found, nil
}

// candidates are the files in which the definition may be, without links: those of the
// project, and the one that had it when it was loaded.
func (w *writing) candidates(source *lisp.Source) (files []string) {
	seen := map[string]bool{"": true}
	for _, path := range append(w.projectFiles(), source.File) {
		if real, err := w.Trees.Real(path); err == nil && !seen[real] {
			seen[real] = true
			files = append(files, real)
		}
	}
	return files
}

func (w *writing) projectFiles() []string {
	if w.Project == nil {
		return nil
	}
	return w.Project().LispFiles(w.ctx)
}

// glance returns the text of a file of the project if it has the name of f in it.
func (w *writing) glance(path string, f *form) (string, bool) {
	if t := w.texts[path]; t != nil {
		return t.after, true
	}
	text, err := readSource(w.Trees, path)
	return text, err == nil && strings.Contains(strings.ToUpper(text), strings.ToUpper(f.Name))
}

// means reports whether the name of d, in a file, is that of the symbol.
func (w *writing) means(d *syntax.Definition) bool {
	pkg := d.Package
	if d.Prefix != "" {
		pkg = d.Prefix
	}
	return slices.Contains(w.sources.Packages, orUser(pkg))
}

// orUser is the package of a text that names none.
func orUser(pkg string) string {
	if pkg == "" {
		return "COMMON-LISP-USER"
	}
	return pkg
}

// replace plans that f takes the place of p.
func (w *writing) replace(source *lisp.Source, f *form, p place) error {
	t, err := w.load(p.path)
	if err != nil {
		return err
	}
	t.has = append(t.has, source.Label)
	old, err := w.around(source, f, t, p)
	if err != nil {
		return err
	}
	if err := w.fit(source, f, t, old.Start, p.String(), p.Package); err != nil {
		return err
	}
	after := syntax.Replace(t.after, old, f.text, f.Column)
	if after == t.after {
		w.said = append(w.said, fmt.Sprintf("Unchanged: %s, which %s has as it is.", source.Label, p))
		return nil
	}
	if err := w.unchanged(source, f, t, p, old); err != nil {
		return err
	}
	if err := w.agree(source, f, t, p.String(), p.Package); err != nil {
		return err
	}
	w.said = append(w.said, fmt.Sprintf("Written: %s, %s.", source.Label, p))
	t.after = after
	return nil
}

// unchanged makes sure that the form at old, that of p or the one around it, is still the
// one that was loaded.
func (w *writing) unchanged(source *lisp.Source, f *form, t *text, p place, old syntax.Extent) error {
	if w.force {
		return nil
	}
	now := t.after[old.Start:old.End]
	if source.Loaded == "" {
		if syntax.SameCode(w.ctx, now, f.text) {
			return nil
		}
		return w.unlessForced("%s was not loaded, so what the image has was not made from it:\n%s",
			p, diffText(p.path, now+"\n", "image", f.text+"\n"))
	}
	stretches, err := w.stretches(t.after)
	if err != nil {
		return err
	}
	all, _, _ := syntax.Definitions(w.ctx, source.Loaded, w.readAs(stretchAt(stretches, old.Start).c))
	for _, d := range all {
		extent := d.Extent
		if old != p.Extent {
			extent = whole(&d)
		}
		if loaded := source.Loaded[extent.Start:extent.End]; d.Same(&p.Definition) && unixLines(loaded) != unixLines(now) {
			return w.unlessForced("%s has changed since it was loaded, and what the image has was made from what it was:\n%s",
				p, diffText(p.path, loaded+"\n", p.path, now+"\n"))
		}
	}
	return nil
}

// unlessForced returns the error of a form that is not the one that was loaded, or the error that
// force would leave.
func (w *writing) unlessForced(format string, v ...any) error {
	if err := w.trial(w.file, true); err != nil {
		return err
	}
	return w.refuse("FORM-CHANGED", w.forced(), format, v...)
}

func unixLines(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// agree makes sure that f means in a file, at a place where pkg is current, what it meant
// when it was evaluated.
func (w *writing) agree(source *lisp.Source, f *form, t *text, where, pkg string) error {
	if !utf8.ValidString(t.before) && !ascii(f.text) {
		return w.refuse("NOT-UTF-8", "", "%s is not UTF-8 text, and the %s has other characters than ASCII.", where, source.Label)
	}
	if pkg = orUser(pkg); pkg == f.pkg || f.fits {
		return nil
	}
	unlike, err := w.Session.ReadUnlike(w.ctx, f.text, f.pkg, pkg)
	if err != nil {
		return w.lookupFailed(err, "name", w.name)
	}
	switch {
	case unlike.Missing != "":
		return w.missing(source, f, where, pkg, unlike.Missing)
	case len(unlike.Names) > 0:
		return w.refuse("OTHER-PACKAGE", nextCall("evaluate-lisp", "code", f.text, "package", pkg),
			"%s is in the package %s, and the %s was evaluated in %s, where these are other symbols: %s. Evaluate it in %s first.",
			where, pkg, source.Label, f.pkg, strings.Join(unlike.Names, ", "), pkg)
	}
	return nil
}

func ascii(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r >= 0x80 }) < 0
}
