package lisp

import (
	"context"
	"errors"

	"swank-mcp/swank"
	"swank-mcp/swank/lisp/helper"
)

// Section is one group of a session's definitions.
type Section struct {
	_     struct{} `sexp:",list"`
	Name  string   // "functions", "loaded-systems", …; see the helper's listing.lisp
	Lines []string `sexp:",rest"` // sorted; a method's line begins with blanks and follows its function's
}

// Package is a package of the image.
type Package struct {
	_              struct{} `sexp:",list"`
	Name           string
	Nicknames      []string
	Externals      int  // external symbols
	Current        bool // the session's package
	Own            bool // made by the session's code
	Implementation bool // of the Lisp system, of Swank or of the bridge
}

// Definitions returns what the session has defined and is still so, without
// empty sections; with pkg not "", only names of that package. An unknown one
// is the section "unknown-package" with a line that says so. Where no image
// runs, there is nothing.
func (s *Session) Definitions(ctx context.Context, pkg string) ([]Section, error) {
	if err := s.broughtBack(ctx); err != nil {
		return nil, err
	}
	var sections []Section
	c := helper.NewCall("LIST-DEFINITIONS").Str(s.name)
	if pkg != "" {
		c.Str(pkg)
	}
	if err := s.im.queryRunning(ctx, c, &sections); err != nil {
		return nil, err
	}
	return sections, nil
}

// Packages returns all packages of the image, by name, starting one if needed.
func (s *Session) Packages(ctx context.Context) ([]Package, error) {
	if err := s.broughtBack(ctx); err != nil {
		return nil, err
	}
	if _, err := s.im.acquire(ctx, 0); err != nil {
		return nil, err
	}
	var packages []Package
	if err := s.im.queryRunning(ctx, helper.NewCall("LIST-PACKAGES").Str(s.name), &packages); err != nil {
		return nil, err
	}
	return packages, nil
}

// queryRunning asks the image that runs, if one does, on its query thread and decodes the answer.
// Where no image runs, what shapes point to stays as it is.
func (im *Image) queryRunning(ctx context.Context, c *helper.Call, shapes ...any) error {
	inst, err := im.running(ctx)
	if inst == nil {
		return err
	}
	return inst.lookUp(ctx, c, shapes...)
}

// running returns the image that runs, nil where none does. A person's is waited
// for.
func (im *Image) running(ctx context.Context) (*instance, error) {
	im.mu.Lock()
	inst := im.cur
	im.mu.Unlock()
	if inst != nil && !inst.over() {
		return inst, nil
	}
	if im.cfg.Attach.IsZero() {
		return nil, nil
	}
	return im.acquire(ctx, 0)
}

// unanswered says what became of a look-up that ended with err.
func (inst *instance) unanswered(ctx context.Context, err error) error {
	var conn *swank.ConnError
	var held *heldUpError
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &held) && held.why != "":
		return &UnansweredError{KindTimeout, "The image has not answered yet. " + held.why}
	case errors.Is(err, context.DeadlineExceeded):
		return &UnansweredError{KindTimeout, "The image has not answered yet: " + inst.silence() + "."}
	case !errors.As(err, &conn) && !errors.Is(err, swank.ErrClosed):
		return err
	case inst.attached():
		return &UnansweredError{KindImageDied, "The attached Lisp was lost during this call: " + inst.epitaph() + "."}
	}
	return &UnansweredError{KindImageDied, "The Lisp image ended during this call: " + inst.epitaph() + "."}
}
