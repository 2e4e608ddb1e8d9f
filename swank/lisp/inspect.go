package lisp

import "context"

// View is what of an object is wanted.
type View struct {
	Path   string // to a part: indices, slots, keys with dots between; "" is the object
	Offset int    // the first part shown
	Limit  int    // how many parts, > 0
}

func (v View) on(c *helperCall) *helperCall {
	return c.key("OFFSET").num(int64(v.Offset)).key("LIMIT").num(int64(v.Limit))
}

// Inspect evaluates the one form in code and shows its first value under a new
// handle, which the title begins with. A path that leads nowhere is a Failure
// of the Result, like any error. Result and error are those of
// [Image.Evaluate]; the Result has no Values.
func (im *Image) Inspect(ctx context.Context, session, code string, v View, r Request) (*Finding, *Result, error) {
	j := job{title: code, call: func(e *evaluation) *helperCall {
		return e.options(v.on(newHelperCall("INSPECT-FORM").str(code).key("PATH").str(v.Path)))
	}}
	var wire wireFound
	res, err := im.do(ctx, session, r, j, &wire)
	if err != nil {
		return nil, nil, err
	}
	return wire.finding(), res, nil
}

// InspectHandle shows an object that [Image.Inspect] has given the handle. It
// runs beside evaluations. The error may be a *LookupError; its Names is then
// the code whose value it was, if the object is gone.
func (im *Image) InspectHandle(ctx context.Context, session, handle string, v View) (*Finding, error) {
	c := newHelperCall("INSPECT-HANDLE").str(handle).str(v.Path).key("SESSION").str(session)
	return im.found(ctx, session, v.on(c))
}
