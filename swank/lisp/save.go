package lisp

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"swank-mcp/sexp"
)

// Saved is a session as Lisp source.
type Saved struct {
	Text    string   // of a file that can be loaded; ends in a newline
	Summary string   // what it has, in words: "3 definitions and the system alexandria"
	Empty   bool     // there is nothing to save
	Dropped int      // older definitions that the journal had no room for
	Lost    []string // what it lacks of the session's definitions, and why
}

// SaveSession returns what the session has defined, as the source of a file of
// that name, in turn with its evaluations: it waits for those that came before
// at most as long as timeout says. No image needs to run.
func (im *Image) SaveSession(ctx context.Context, name, file string, timeout time.Duration, queued func()) (saved *Saved, err error) {
	t := &turn{code: "save-session " + file, limit: timeout, queued: queued}
	err = im.inTurn(ctx, name, t, func(s *session) error {
		saved, err = im.save(ctx, s, file)
		return err
	})
	return saved, err
}

func (im *Image) save(ctx context.Context, s *session, file string) (*Saved, error) {
	j := &s.journal
	var gone []string
	if err := im.lookup(ctx, newHelperCall("UNDONE").str(s.name), &gone); err != nil {
		return nil, err
	}
	for _, key := range gone {
		j.undefine(key)
	}
	return &Saved{Text: j.source(file, time.Now()), Summary: j.summary(), Empty: j.live == 0, Dropped: j.dropped, Lost: j.notSaved()}, nil
}

// source is the journal as a file that LOAD takes.
func (j *journal) source(file string, now time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, `;;;; %[1]s -*- mode: lisp; coding: utf-8 -*-
;;;; A Lisp session, saved by swank-mcp on %[2]s: %[3]s.
;;;;
;;;; To bring it back: load-session {"file": %[4]q}, or sbcl --load %[1]s
;;;; It holds packages, declarations, systems and definitions, and no code with other
;;;; effects. Values that variables were given after their definition are not in it.
;;;; A definition that was changed stands twice where others may need it early and
;;;; it may need others.
%[5]s
`, filepath.Base(file), now.UTC().Format("2006-01-02 15:04 MST"), j.summary(), file, j.lossComment())
	if len(j.names(":SYSTEM")) > 0 {
		b.WriteString("(require \"asdf\")\n\n")
	}
	pkg := ""
	in := func(name string) {
		if name != "" && name != pkg {
			fmt.Fprintf(&b, "(cl:in-package %s)\n\n", packageSource(name))
			pkg = name
		}
	}
	left := map[*entry]int{} // how often they come still
	for _, e := range j.placed() {
		left[e]++
	}
	seen := map[*entry]bool{}
	for _, e := range j.placed() {
		left[e]--
		early, again := left[e] > 0, seen[e]
		seen[e] = true
		switch {
		case e.bad != "":
		case e.system():
			if !again {
				b.WriteString(e.systemSource())
			}
		default:
			text, pkg := e.source()
			in(pkg)
			b.WriteString(e.inFile(strings.TrimSpace(text), early, again))
			b.WriteString("\n\n")
		}
	}
	in(j.pkg)
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// systemSource is code that loads the system of an entry.
func (e *entry) systemSource() string {
	var b strings.Builder
	for _, file := range e.files {
		b.WriteString(toldOf(file))
	}
	name := quoted(keyName(e.keys[0]))
	fmt.Fprintf(&b, "#+quicklisp (ql:quickload %s :silent t)\n#-quicklisp (asdf:load-system %s)\n\n", name, name)
	return b.String()
}

// inFile is the text of an entry that has been redefined, and so comes twice.
// What it needs may come later than its early place, and it may not bear to be
// evaluated again where it has succeeded there.
func (e *entry) inFile(text string, early, again bool) string {
	switch {
	case early:
		text = fmt.Sprintf("(ignore-errors\n (handler-bind ((warning #'muffle-warning))\n  (eval '%s)))", text)
		if kind, name := keyParts(e.keys[0]); kind == ":PACKAGE" { // what follows is read in it
			text += fmt.Sprintf("\n(unless (find-package %s) (make-package %[1]s :use '(\"COMMON-LISP\")))", name)
		}
		return text
	case again && e.once():
		kind, name := keyParts(e.keys[0])
		if k, ok := keepers[kind]; ok && !strings.HasPrefix(name, "(") {
			if !strings.Contains(name, ":") { // keys are written for that package
				name = "cl-user::" + name
			}
			return fmt.Sprintf("(unless "+cmp.Or(k.there, k.is)+"\n %[2]s)", "'"+name, text)
		}
	}
	return text
}

// notSaved names what a saved file lacks, and why.
func (j *journal) notSaved() []string {
	losses := slices.Clone(j.losses)
	for _, e := range j.all() {
		if e.bad != "" {
			for _, k := range e.keys {
				losses = append(losses, loss{k, e.bad})
			}
		}
	}
	return lossesInWords(losses)
}

// lossComment names what is not in a saved file, as lines of its header.
func (j *journal) lossComment() string {
	lost := j.notSaved()
	if len(lost) == 0 {
		return ""
	}
	text := ";;;;\n;;;; Not in it:\n"
	for _, words := range lost {
		text += ";;;;   " + strings.Join(strings.Fields(words), " ") + "\n"
	}
	return text
}

// toldOf is code that has ASDF find the system that file is called after in file,
// before any other of that name.
func toldOf(file string) string {
	name := strings.ToLower(strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)))
	return fmt.Sprintf("(push (lambda (name) (and (equal name %s) (probe-file (uiop:parse-native-namestring %s))))\n"+
		"      asdf:*system-definition-search-functions*)\n", quoted(name), quoted(file))
}

// plainPackage are the names that #:name is read as, whatever else is set.
var plainPackage = regexp.MustCompile(`^[A-Z*+/<>-][A-Z0-9.*+/<>-]*$`)

// packageSource is a designator of the package, to be read in any package.
func packageSource(name string) string {
	if plainPackage.MatchString(name) {
		return "#:" + strings.ToLower(name)
	}
	return quoted(name)
}

// quoted is s as a Lisp string.
func quoted(s string) string {
	b, err := sexp.Append(nil, s)
	if err != nil {
		return `""` // names are what the image has printed, which can be written
	}
	return string(b)
}

// Loaded is what became of a file of forms.
type Loaded struct {
	Forms  int
	Failed []FailedForm // the others were evaluated
}

// FailedForm is a form that could not be read or evaluated.
type FailedForm struct {
	Line int    // where it begins, from 1
	Form string // its first line
	Why  string // TYPE: message
}

// LoadSession evaluates the forms of source in the session, going on behind
// those that fail; file is what to call it. Result and error are those of
// [Image.Evaluate].
func (im *Image) LoadSession(ctx context.Context, name, file, source string, r Request) (*Loaded, *Result, error) {
	r.Debug = defaultDebug
	var w wireLoaded
	res, err := im.do(ctx, name, r, job{
		title: "load-session " + file,
		call:  func(e *evaluation) *helperCall { return e.options(newHelperCall("LOAD-FORMS").str(source)) },
	}, &w)
	loaded := &Loaded{Forms: w.Forms}
	for _, f := range w.Failed {
		loaded.Failed = append(loaded.Failed, FailedForm{Line: f.Line, Form: f.Form, Why: f.Why})
	}
	return loaded, res, err
}

type (
	wireLoaded struct {
		Forms  int        `sexp:"forms"`
		Failed []wireForm `sexp:"failed"`
	}
	wireForm struct {
		_    struct{} `sexp:",list"`
		Line int
		Form string
		Why  string
	}
)
