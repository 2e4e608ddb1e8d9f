package journal

import (
	"cmp"
	"fmt"
	"iter"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"swank-mcp/sexp"
)

// Source is the journal as the text of a file of that name that LOAD takes; it
// ends in a newline.
func (j *Journal) Source(file string, now time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, `;;;; %[1]s -*- mode: lisp; coding: utf-8 -*-
%[6]s%[2]s: %[3]s.
;;;;
;;;; To bring it back: load-session {"file": %[4]q}, or sbcl --load %[1]s
;;;; It holds packages, declarations, systems and definitions, and no code with other
;;;; effects. Values that variables were given after their definition are not in it.
;;;; A definition that was changed stands twice where others may need it early and
;;;; it may need others.
%[5]s
`, filepath.Base(file), now.UTC().Format("2006-01-02 15:04 MST"), j.Summary(), file, j.lossComment(), savedBy)
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
	for text, pkg := range j.pieces() {
		in(pkg)
		b.WriteString(text)
	}
	in(j.Package)
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// savedBy begins the second line of what Source returns.
const savedBy = ";;;; A Lisp session, saved by swank-mcp on "

// HeadOfSaved counts the bytes that [IsSaved] needs of a file, whose first line has the file's name.
const HeadOfSaved = 400

// IsSaved reports whether a text that begins so is what [Journal.Source] returned.
func IsSaved(head string) bool {
	_, rest, _ := strings.Cut(head, "\n")
	return strings.HasPrefix(rest, savedBy)
}

// pieces yields what a file has for the entries in their order, each with an empty line at its
// end, and the package in which that is read, or "".
func (j *Journal) pieces() iter.Seq2[string, string] {
	left := map[*Entry]int{} // how often they come still
	for _, e := range j.placed() {
		left[e]++
	}
	seen := map[*Entry]bool{}
	return func(yield func(text, pkg string) bool) {
		for _, e := range j.placed() {
			left[e]--
			early, again := left[e] > 0, seen[e]
			seen[e] = true
			text, pkg := "", ""
			switch {
			case e.Bad != "" || e.System() && again:
				continue
			case e.System():
				text = e.systemSource()
			default:
				text, pkg = e.Source()
				text = e.inFile(strings.TrimSpace(text), early, again) + "\n\n"
			}
			if !yield(text, pkg) {
				return
			}
		}
	}
}

// Without returns the source that another journal has written without what j has as well, or
// "" if nothing is left of it but comments and packages to be in.
func (j *Journal) Without(source string) string {
	source = "\n" + strings.TrimSuffix(source, "\n") + "\n\n" // so that each piece has its end
	for text := range j.pieces() {
		source = strings.Replace(source, "\n"+text, "\n", 1)
	}
	for line := range strings.Lines(source) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, ";;;;") && !strings.HasPrefix(line, "(cl:in-package ") && line != `(require "asdf")` {
			return strings.TrimPrefix(source, "\n")
		}
	}
	return ""
}

// systemSource is code that loads the system of an entry.
func (e *Entry) systemSource() string {
	var b strings.Builder
	for _, file := range e.files {
		b.WriteString(toldOf(file))
	}
	if n := len(e.files); n > 0 && !slices.ContainsFunc(e.files, e.calledAfter) {
		// the last may be the system's own
		fmt.Fprintf(&b, "(asdf:load-asd (uiop:parse-native-namestring %s))\n", quoted(e.files[n-1]))
	}
	name := quoted(keyName(e.Keys[0]))
	fmt.Fprintf(&b, "#+quicklisp (ql:quickload %s :silent t)\n#-quicklisp (asdf:load-system %s)\n\n", name, name)
	return b.String()
}

// inFile is the text of an entry that has been redefined, and so comes twice.
// At its early place it may fail, because what it needs comes later; where it has
// succeeded there, evaluating it again may do harm.
func (e *Entry) inFile(text string, early, again bool) string {
	switch {
	case early:
		text = fmt.Sprintf("(ignore-errors\n (handler-bind ((warning #'muffle-warning))\n  (eval '%s)))", text)
		if kind, name := keyParts(e.Keys[0]); kind == ":PACKAGE" { // what follows is read in it
			text += fmt.Sprintf("\n(unless (find-package %s) (make-package %[1]s :use '(\"COMMON-LISP\")))", name)
		}
		return text
	case again && e.Once():
		kind, name := keyParts(e.Keys[0])
		if k, ok := keepers[kind]; ok && !strings.HasPrefix(name, "(") {
			if !strings.Contains(name, ":") { // keys are written for that package
				name = "cl-user::" + name
			}
			return fmt.Sprintf("(unless "+cmp.Or(k.there, k.is)+"\n %[2]s)", "'"+name, text)
		}
	}
	return text
}

// NotSaved names what a saved file lacks, and why.
func (j *Journal) NotSaved() []string {
	losses := slices.Clone(j.losses)
	for _, e := range j.All() {
		if e.Bad != "" {
			for _, k := range e.Keys {
				losses = append(losses, Loss{Key: k, Why: e.Bad})
			}
		}
	}
	return lossesInWords(losses)
}

// lossComment names what is not in a saved file, as lines of its header.
func (j *Journal) lossComment() string {
	lost := j.NotSaved()
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
	name := definedName(file)
	return fmt.Sprintf("(push (lambda (name) (and (equal name %s) (probe-file (uiop:parse-native-namestring %s))))\n"+
		"      asdf:*system-definition-search-functions*)\n", quoted(name), quoted(file))
}

// definedName is the name of the system that file, a definition, is called after.
func definedName(file string) string {
	return strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
}

// calledAfter reports whether file, a definition, is called after the system of the entry.
func (e *Entry) calledAfter(file string) bool {
	name, _, _ := strings.Cut(keyName(e.Keys[0]), "/")
	return definedName(file) == name
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
