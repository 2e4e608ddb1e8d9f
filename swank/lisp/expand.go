package lisp

import (
	"context"
	"strings"

	"swank-mcp/swank/lisp/helper"
)

// Expansion is what became of a macro call.
type Expansion struct {
	Text  Text   `sexp:"expansion"` // the expansion; the form itself where there is nothing to expand
	Why   string `sexp:"why"`       // why there is nothing, one sentence; "" if there is
	Steps []Step `sexp:"steps"`     // in the mode "steps", instead of Text
	More  int    `sexp:"more"`      // further steps that are not in Steps
}

// Step is one macro call and its expansion.
type Step struct {
	_               struct{} `sexp:",list"`
	Form, Expansion Text
}

// Expand expands the macro call in code, read in the session's package or in
// r.Package. Mode is "one" (the outermost, once), "full" (until it is no macro
// call), "all" (also inside) or "steps" (as all, one by one). Result and error
// are those of [Session.Evaluate]; the Result has no Values.
func (s *Session) Expand(ctx context.Context, code, mode string, r Request) (*Expansion, *Result, error) {
	j := job{title: code, call: func(e *evaluation) *helper.Call {
		return e.options(helper.NewCall("EXPAND").Str(code).Key(strings.ToUpper(mode)))
	}}
	var x Expansion
	res, err := s.do(ctx, r, j, &x)
	if err != nil {
		return nil, nil, err
	}
	return &x, res, nil
}
