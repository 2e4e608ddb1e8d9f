package lisp

import (
	"context"

	"swank-mcp/swank/lisp/helper"
)

// ProjectStatus is how what is loaded of the project's systems differs from its files.
type ProjectStatus struct {
	Systems     []string  `sexp:"systems"`     // those that are loaded
	Files       int       `sexp:"files"`       // their source files
	Definitions int       `sexp:"definitions"` // what these define
	Findings    []string  `sexp:"findings"`    // a line each, the most important first; none: no difference
	More        int       `sexp:"more"`        // findings beyond the first 1,000
	Next        *NextCall `sexp:"next"`        // the call that helps most; nil if none does

	Unjudged error `sexp:"-"` // why no fresh image has shown what the files have; nil if one has, or none was needed
}

// NextCall is a call of a tool, with one argument of text and perhaps a flag.
type NextCall struct {
	_        struct{} `sexp:",list"`
	Tool     string
	Argument string
	Value    string
	Flag     string // names an argument that is to be true; or ""
}

// ProjectDefinition is what one definition is in the image and on disk.
type ProjectDefinition struct {
	_          struct{} `sexp:",list"`
	Label      string
	Said       string // how the two differ, in words
	Image      string // its source; "" if there is none, or it is not known
	ImagePlace string
	Disk       string // its source; "" if no file has it
	DiskPlace  string // file:line
}

// questions asks a fresh image about the project. The session's image puts them.
type questions struct {
	State    string   `sexp:"state"`    // of the files
	Systems  []string `sexp:"systems"`  // that are loaded
	Packages []string `sexp:"packages"` // whose definitions are told
	Wanted   []string `sexp:"wanted"`   // keys of definitions for names of others
	Codes    []string `sexp:"codes"`    // keys of functions whose code is compared
}

// unjudged takes from an answer what is left to ask.
type unjudged struct {
	Questions *questions `sexp:"unjudged"`
}

// ProjectStatus compares what is loaded of the project's systems with their files, and where
// something may differ with a fresh image that has loaded these, for which r is the request;
// with r.Timeout 0 with none. The session's image loads nothing. Errors are those of a look-up.
func (s *Session) ProjectStatus(ctx context.Context, r Request) (*ProjectStatus, error) {
	var status ProjectStatus
	unjudged, err := s.judged(ctx, r, func() (*questions, error) {
		var left unjudged
		status = ProjectStatus{}
		err := s.query(ctx, helper.NewCall("PROJECT-STATUS").Key("SESSION").Str(s.name), &status, &left)
		return left.Questions, err
	})
	status.Unjudged = unjudged
	return &status, err
}

// ProjectDefinitions returns the definitions of the project that name, as a person writes
// it, may mean. Without any, the error is a *LookupError.
func (s *Session) ProjectDefinitions(ctx context.Context, name string, r Request) ([]ProjectDefinition, error) {
	var found struct {
		Definitions []ProjectDefinition `sexp:"definitions"`
	}
	_, err := s.judged(ctx, r, func() (*questions, error) {
		var left unjudged
		found.Definitions = nil
		err := s.query(ctx, helper.NewCall("PROJECT-DEFINITION-TEXTS").Str(name).Key("SESSION").Str(s.name), &found, &left)
		return left.Questions, err
	})
	return found.Definitions, err
}
