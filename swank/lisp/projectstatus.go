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
	More        int       `sexp:"more"`        // findings that are left out
	Next        *NextCall `sexp:"next"`        // the call that helps most; nil if none does
}

// NextCall is a call of a tool, with one argument of text and perhaps force.
type NextCall struct {
	_        struct{} `sexp:",list"`
	Tool     string
	Argument string
	Value    string
	Force    bool
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

// ProjectStatus compares what is loaded of the project's systems with their files. It
// loads nothing. Errors are those of a look-up.
func (s *Session) ProjectStatus(ctx context.Context) (*ProjectStatus, error) {
	s.im.lookAtProject(ctx)
	status := new(ProjectStatus)
	return status, s.query(ctx, helper.NewCall("PROJECT-STATUS").Key("SESSION").Str(s.name), status)
}

// ProjectDefinitions returns the definitions of the project that name, as a person writes
// it, may mean. Without any, the error is a *LookupError.
func (s *Session) ProjectDefinitions(ctx context.Context, name string) ([]ProjectDefinition, error) {
	s.im.lookAtProject(ctx)
	var found struct {
		Definitions []ProjectDefinition `sexp:"definitions"`
	}
	err := s.query(ctx, helper.NewCall("PROJECT-DEFINITION-TEXTS").Str(name).Key("SESSION").Str(s.name), &found)
	return found.Definitions, err
}
