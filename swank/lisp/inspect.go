package lisp

import (
	"context"

	"swank-mcp/swank/lisp/helper"
)

// View is what of an object is wanted.
type View struct {
	Path   string // to a part: indices, slots, keys with dots between; "" is the object
	Offset int    // the first part shown
	Limit  int    // how many parts, > 0
}

func (v View) on(c *helper.Call) *helper.Call {
	return c.Key("OFFSET").Num(int64(v.Offset)).Key("LIMIT").Num(int64(v.Limit))
}

// Inspect evaluates the one form in code and shows its first value under a new
// handle, which the title begins with. A path that leads nowhere is a Failure
// of the Result, like any error. Result and error are those of
// [Session.Evaluate]; the Result has no Values.
func (s *Session) Inspect(ctx context.Context, code string, v View, r Request) (*Finding, *Result, error) {
	j := job{title: code, call: func(e *evaluation) *helper.Call {
		return e.options(v.on(helper.NewCall("INSPECT-FORM").Str(code).Key("PATH").Str(v.Path)))
	}}
	f := new(Finding)
	res, err := s.do(ctx, r, j, f)
	if err != nil {
		return nil, nil, err
	}
	return f, res, nil
}

// InspectHandle shows an object that [Session.Inspect] has given the handle. It
// runs beside evaluations. The error may be a *LookupError; its Names is then
// the code whose value it was, if the object is gone.
func (s *Session) InspectHandle(ctx context.Context, handle string, v View) (*Finding, error) {
	c := helper.NewCall("INSPECT-HANDLE").Str(handle).Str(v.Path).Key("SESSION").Str(s.name)
	return s.found(ctx, v.on(c))
}
