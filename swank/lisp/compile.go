package lisp

import (
	"context"
	"fmt"
	"strings"

	"swank-mcp/swank/lisp/helper"
)

// Compilation is what [Session.Compile] is to compile.
type Compilation struct {
	File   string // absolute path, as the image knows it; or
	Code   string // source text
	Output string // absolute path of the fasl to keep; "" keeps none
	NoLoad bool   // do not load the result
}

// Compiled is what came of it.
type Compiled struct {
	Notes  []Note `sexp:"notes"`  // in the order of the source
	More   int    `sexp:"more"`   // further notes that are not in Notes
	Failed bool   `sexp:"failed"` // there was an error; nothing was loaded
	Loaded bool   `sexp:"loaded"`
}

// Note is one diagnostic of the compiler.
type Note struct {
	_            struct{} `sexp:",list"`
	Severity     string   // error, warning, style-warning, note
	File         string   // "" is the file or code that was compiled
	Line, Column int      // from 1; 0 if not known
	Text         string
	Source       string // the line of the source
}

// Compile compiles a file or code with the file compiler and loads it, unless
// it has an error. What it defines counts as defined by the session. Result
// and error are those of [Session.Evaluate]; the Result has no Values.
func (s *Session) Compile(ctx context.Context, c Compilation, r Request) (*Compiled, *Result, error) {
	call := helper.NewCall("COMPILE-SOURCE")
	j := job{title: c.Code, call: call}
	if c.File != "" {
		j.title, j.code = "compile-file "+c.File, shownCall("COMPILE-FILE", c.File)
		call.Key("FILE").Str(c.File)
	} else {
		call.Key("TEXT").Str(c.Code)
	}
	if c.Output != "" {
		call.Key("OUTPUT").Str(c.Output)
	}
	if c.NoLoad {
		call.Key("LOAD").No()
	}
	return reported[Compiled](ctx, s, r, j)
}

// shownCall is a call of function with a string, as Lisp.
func shownCall(function, argument string) string {
	return fmt.Sprintf(`(%s "%s")`, function, strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(argument))
}

// Load loads a file, source or compiled. What it defines counts as defined by
// the session. Result and error are those of [Session.Evaluate]; the Result has
// no Values.
func (s *Session) Load(ctx context.Context, file string, r Request) (*Result, error) {
	return s.do(ctx, r, job{title: "load-file " + file, code: shownCall("LOAD", file),
		call: helper.NewCall("LOAD-SOURCE").Str(file)}, nil)
}

// Disassemble returns the machine code of the function called name, as a person
// writes it; of a generic function, that of its methods. pkg is where a symbol
// without prefix is looked for; "" is the session's package. Nothing is
// interned, read or evaluated. The error may be a *LookupError.
func (s *Session) Disassemble(ctx context.Context, name, pkg string) (*Finding, error) {
	return s.found(ctx, helper.NewCall("DISASSEMBLE-FUNCTION").Str(name).Key("SESSION").Str(s.name).Opt("PACKAGE", pkg))
}
