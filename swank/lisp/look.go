package lisp

import (
	"context"
	"errors"
)

// Finding is what a look-up has found, as text for people and models.
type Finding struct {
	Title    string    // what was found, in a line; "" if the sections say it
	Sections []Section // none: nothing was found
	Notes    []string  // on what is left out
	Standard string    // the symbol's name if it is one of COMMON-LISP, else ""
}

// LookupError is a look-up that could not look: no such package, no such
// symbol, not external, too slow. Type is a short name in upper case, Names are
// what may have been meant, best first; each can be looked up as it is.
type LookupError struct {
	Type, Message string
	Names         []string
}

func (e *LookupError) Error() string { return "lisp: " + e.Type + ": " + e.Message }

// errNoAnswer is the end of a look-up whose image went away before it was asked.
var errNoAnswer = errors.New("lisp: the image ended before this call reached it; send the call again")

type (
	wireFound struct {
		Title    string      `sexp:"title"`
		Sections []wireTitle `sexp:"sections"`
		Notes    []string    `sexp:"notes"`
		Standard string      `sexp:"standard"`
	}
	wireTitle struct {
		_     struct{} `sexp:",list"`
		Title string
		Lines []string `sexp:",rest"`
	}
	wireLookupError struct {
		Error *struct {
			Type    string   `sexp:"type"`
			Message string   `sexp:"message"`
			Names   []string `sexp:"names"`
		} `sexp:"error"`
	}
)

// DescribeSymbol describes what name, as a person writes it, means to the
// session: a symbol with prefix or without, (setf symbol), or a package. pkg is
// where a symbol without prefix is looked for; "" is the session's package.
// Nothing is interned, read or evaluated; printing values may call print-object
// methods of the user's. The error may be a *LookupError.
func (im *Image) DescribeSymbol(ctx context.Context, session, name, pkg string) (*Finding, error) {
	return im.found(ctx, session, newHelperCall("DESCRIBE-SYMBOL").str(name).key("SESSION").str(session).opt("PACKAGE", pkg))
}

// found asks for a wireFound.
func (im *Image) found(ctx context.Context, session string, c *helperCall) (*Finding, error) {
	var w wireFound
	if err := im.look(ctx, session, c, &w); err != nil {
		return nil, err
	}
	f := &Finding{Title: w.Title, Notes: w.Notes, Standard: w.Standard}
	for _, s := range w.Sections {
		f.Sections = append(f.Sections, Section{Name: s.Title, Lines: s.Lines})
	}
	return f, nil
}

// look asks an image, which it starts if none runs, for an answer of the
// helper's WITH-LOOK-UP and decodes it into v. It runs beside evaluations. The
// error may be a *LookupError.
func (im *Image) look(ctx context.Context, session string, c *helperCall, v any) error {
	if err := im.broughtBack(ctx, session); err != nil {
		return err
	}
	if _, err := im.acquire(ctx, lookupTimeout); err != nil {
		return err
	}
	answer, err := im.lookupText(ctx, c)
	if err != nil {
		return err
	}
	if answer == "" {
		return errNoAnswer
	}
	var failed wireLookupError
	if err := decodeAnswer(answer, &failed); err != nil {
		return err
	}
	if e := failed.Error; e != nil {
		return &LookupError{Type: e.Type, Message: e.Message, Names: e.Names}
	}
	return decodeAnswer(answer, v)
}

// opt adds a keyword argument unless its value is "".
func (c *helperCall) opt(name, value string) *helperCall {
	if value != "" {
		c.key(name).str(value)
	}
	return c
}
