package lisp

import (
	"context"
	"time"

	"swank-mcp/swank/lisp/helper"
)

// Sources is what a session has defined as a name, with its source.
type Sources struct {
	Name        string   `sexp:"name"`        // of the symbol
	Packages    []string `sexp:"packages"`    // names and nicknames of those in which the name means the symbol
	Features    []string `sexp:"features"`    // the names in *FEATURES*
	Definitions []Source `sexp:"definitions"` // in the order of definition
	Files       []string `sexp:"files"`       // with other definitions of its package that the session has made, the file with most of them first
	Places      []string `sexp:"places"`      // where the name is defined if the session has not defined it, in lines
}

// Source is a definition of a session's, and the form whose evaluation made it.
type Source struct {
	Kind         string   `sexp:"kind"`         // "function", "method", "variable", "structure", …; see the helper's kinds.lisp
	Label        string   `sexp:"label"`        // for people: "function SHOP::TOTAL"
	Setf         bool     `sexp:"setf"`         // it is of (SETF name)
	Qualifiers   []string `sexp:"qualifiers"`   // of a method, as names of symbols
	Specializers []string `sexp:"specializers"` // of a method, as names of classes or (EQL OBJECT)
	Text         string   `sexp:"text"`         // of the top level form; "" where it is not known
	Package      string   `sexp:"package"`      // in which Text was read
	Case         string   `sexp:"case"`         // the readtable-case with which Text was read, "preserve", if its syntax was not that of files; else ""
	Why          string   `sexp:"why"`          // why Text is not known
	File         string   `sexp:"file"`         // that had the definition when it was loaded, or ""
	Loaded       string   `sexp:"loaded"`       // the top level form of File that it was loaded from
}

// Sources tells what the session has defined as name, as for [Session.DescribeSymbol], in
// turn with its evaluations: it waits for those that came before at most as long as
// timeout says. The error may be a *LookupError.
func (s *Session) Sources(ctx context.Context, name, pkg string, timeout time.Duration) (found *Sources, err error) {
	err = s.alone(ctx, "write-definition "+name, timeout, func() error {
		thread, err := s.prepare(ctx, startPatience)
		if err != nil {
			return err
		}
		found = new(Sources)
		return thread.inst.askFor(ctx, helper.NewCall("SESSION-SOURCES").Str(name).Key("SESSION").Str(s.name).Opt("PACKAGE", pkg), found)
	})
	return found, err
}

// Written tells the image that the file now has those of labels, of [Source], that the
// session has defined as name: they count as loaded from there.
func (s *Session) Written(ctx context.Context, name, pkg, file string, labels []string) error {
	var noted struct {
		Noted bool `sexp:"noted"`
	}
	call := helper.NewCall("DEFINITION-WRITTEN").Str(name).Str(file)
	call.Quote(len(labels), func(i int) { call.Str(labels[i]) })
	return s.query(ctx, call.Key("SESSION").Str(s.name).Opt("PACKAGE", pkg), &noted)
}

// Reading describes how a part of a file is read.
type Reading struct {
	From int    `sexp:"from"` // the character at which the part begins, from 0
	Case string `sexp:"case"` // the readtable-case: "upcase", "downcase", "preserve", "invert"
	Odd  bool   `sexp:"odd"`  // not all is read there as in a file that sets nothing of the reader's
}

// FileReadings tells how the parts of text, a file's, are read. The first begins at 0.
func (s *Session) FileReadings(ctx context.Context, text string) ([]Reading, error) {
	var found struct {
		Readings []Reading `sexp:"readings"`
	}
	return found.Readings, s.query(ctx, helper.NewCall("FILE-READINGS").Str(text).Key("SESSION").Str(s.name), &found)
}

// WritePlace names the place for a form: the character At of the file with the text File, where
// Package is current.
type WritePlace struct {
	File    string
	At      int
	Package string
}

// Writable says how to write a form at a [WritePlace].
type Writable struct {
	Same       bool   `sexp:"same"`       // as it is
	Form       string `sexp:"form"`       // printed anew, as it is read there; or ""
	Difference string `sexp:"difference"` // why there is no text for it that is read there as it was evaluated; or ""
	Unknown    int    `sexp:"unknown"`    // the line of File after which it is not known how it is read; or 0
	Missing    string `sexp:"missing"`    // a package that there is not, or ""
}

// Writable tells how form, a part of the text of d, which the session has defined as name,
// is to be written at a place, so that it is read there as it was in the package read.
func (s *Session) Writable(ctx context.Context, name, pkg string, d *Source, form, read string, at WritePlace) (*Writable, error) {
	w := new(Writable)
	call := helper.NewCall("WRITABLE-FORM").Str(form).Str(read).Str(d.Label).Str(name).Str(at.File).Num(int64(at.At)).Str(at.Package)
	return w, s.query(ctx, call.Key("SESSION").Str(s.name).Opt("PACKAGE", pkg), w)
}

// Unlike is what of a text two packages read differently.
type Unlike struct {
	Names   []string `sexp:"names"`   // of symbols, as the text has them; at most five
	Missing string   `sexp:"missing"` // a package that there is not, or ""
}

// ReadUnlike tells what the packages of two names do not read alike in text.
func (s *Session) ReadUnlike(ctx context.Context, text, one, other string) (*Unlike, error) {
	u := new(Unlike)
	return u, s.query(ctx, helper.NewCall("READ-UNLIKE").Str(text).Str(one).Str(other).Key("SESSION").Str(s.name), u)
}
