package lisp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"swank-mcp/sexp"
	"swank-mcp/swank"
	"swank-mcp/swank/lisp/helper"
)

// queryTimeout bounds a look-up: it runs beside evaluations, never behind one. Only a
// test changes it.
var queryTimeout = 10 * time.Second

// Section is one group of a session's definitions.
type Section struct {
	_     struct{} `sexp:",list"`
	Name  string   // "functions", "loaded-systems", …; see the helper's listing.lisp
	Lines []string `sexp:",rest"` // sorted; a method's line begins with blanks and follows its function's
}

// Package is a package of the image.
type Package struct {
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
	var wire []wireSection
	c := helper.NewCall("LIST-DEFINITIONS").Str(s.name)
	if pkg != "" {
		c.Str(pkg)
	}
	if err := s.im.queryRunning(ctx, c, &wire); err != nil {
		return nil, err
	}
	sections := make([]Section, len(wire))
	for i, w := range wire {
		sections[i] = Section{Name: strings.TrimPrefix(string(w.Name), ":"), Lines: w.Lines}
	}
	return sections, nil
}

// Packages returns all packages of the image, by name, starting one if needed.
func (s *Session) Packages(ctx context.Context) ([]Package, error) {
	if err := s.broughtBack(ctx); err != nil {
		return nil, err
	}
	if _, err := s.im.acquire(ctx, queryTimeout); err != nil {
		return nil, err
	}
	var wire []wirePackage
	if err := s.im.queryRunning(ctx, helper.NewCall("LIST-PACKAGES").Str(s.name), &wire); err != nil {
		return nil, err
	}
	packages := make([]Package, len(wire))
	for i, w := range wire {
		p := Package{Name: w.Name, Nicknames: w.Nicknames, Externals: w.Externals}
		for _, flag := range w.Flags {
			switch flag {
			case ":current":
				p.Current = true
			case ":own":
				p.Own = true
			case ":implementation":
				p.Implementation = true
			}
		}
		packages[i] = p
	}
	return packages, nil
}

type (
	wireSection struct {
		_     struct{} `sexp:",list"`
		Name  sexp.Symbol
		Lines []string `sexp:",rest"`
	}
	wirePackage struct {
		_         struct{} `sexp:",list"`
		Name      string
		Flags     []sexp.Symbol
		Externals int
		Nicknames []string
	}
)

// queryRunning asks the image that runs, if one does, on its query thread and decodes the answer.
// Where no image runs, v stays as it is.
func (im *Image) queryRunning(ctx context.Context, c *helper.Call, v any) error {
	inst, err := im.running(ctx)
	if inst == nil {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	answer, err := inst.askQuery(bounded, c)
	if err != nil {
		return inst.unanswered(ctx, inst.heard(ctx, err))
	}
	return inst.heard(ctx, helper.Decode(answer, v))
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
	return im.acquire(ctx, queryTimeout)
}

// unanswered says what became of a look-up that ended with err.
func (inst *instance) unanswered(ctx context.Context, err error) error {
	var conn *swank.ConnError
	var held *heldUpError
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &held) && held.why != "":
		return &UnansweredError{KindTimeout, fmt.Sprintf("The image did not answer within %v. %s", queryTimeout, held.why)}
	case errors.Is(err, context.DeadlineExceeded):
		return &UnansweredError{KindTimeout, fmt.Sprintf("The image did not answer within %v: %s.", queryTimeout, inst.silence())}
	case !errors.As(err, &conn) && !errors.Is(err, swank.ErrClosed):
		return err
	case inst.attached():
		return &UnansweredError{KindImageDied, "The attached Lisp was lost during this call: " + inst.epitaph() + "."}
	}
	return &UnansweredError{KindImageDied, "The Lisp image ended during this call: " + inst.epitaph() + "."}
}
