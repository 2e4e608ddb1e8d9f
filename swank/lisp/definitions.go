package lisp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"swank-mcp/sexp"
	"swank-mcp/swank"
)

// lookupTimeout bounds a look-up: it runs beside evaluations, never behind one.
const lookupTimeout = 10 * time.Second

// Section is one group of a session's definitions.
type Section struct {
	Name  string   // "functions", "loaded-systems", …; see the helper's listing.lisp
	Lines []string // sorted; a method's line begins with blanks and follows its function's
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

// Reset tells what [Image.ResetSession] did.
type Reset struct {
	Problems []string // what could not be undone, and why
	Left     []string // what is not undone in an image that is not ours
}

// Definitions returns what the session has defined and is still so, without
// empty sections; with pkg not "", only names of that package. An unknown one
// is the section "unknown-package" with a line that says so. Where no image
// runs, there is nothing.
func (im *Image) Definitions(ctx context.Context, session, pkg string) ([]Section, error) {
	if err := im.broughtBack(ctx, session); err != nil {
		return nil, err
	}
	var wire []wireSection
	c := newHelperCall("LIST-DEFINITIONS").str(session)
	if pkg != "" {
		c.str(pkg)
	}
	if err := im.lookup(ctx, c, &wire); err != nil {
		return nil, err
	}
	sections := make([]Section, len(wire))
	for i, w := range wire {
		sections[i] = Section{Name: strings.TrimPrefix(string(w.Name), ":"), Lines: w.Lines}
	}
	return sections, nil
}

// Packages returns all packages of the image, by name, starting one if needed.
func (im *Image) Packages(ctx context.Context, session string) ([]Package, error) {
	if err := im.broughtBack(ctx, session); err != nil {
		return nil, err
	}
	if _, err := im.acquire(ctx, lookupTimeout); err != nil {
		return nil, err
	}
	var wire []wirePackage
	if err := im.lookup(ctx, newHelperCall("LIST-PACKAGES").str(session), &wire); err != nil {
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

// ResetSession undoes what the session has made, in turn with its evaluations:
// it waits for those that came before at most as long as timeout says.
func (im *Image) ResetSession(ctx context.Context, name string, timeout time.Duration, queued func()) (*Reset, error) {
	s := im.session(name)
	t := &turn{code: "reset-session", limit: timeout, queued: queued}
	if err := s.take(ctx, t); err != nil {
		return nil, err
	}
	defer s.done()
	s.journal = journal{}
	var wire wireReset
	if err := im.lookup(ctx, newHelperCall("RESET-SESSION").str(name), &wire); err != nil {
		return nil, err
	}
	s.suspended.clear("reset-session ended it")
	return &Reset{Problems: wire.Problems, Left: wire.Left}, nil
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
	wireReset struct {
		Problems []string `sexp:"problems"`
		Left     []string `sexp:"left"`
	}
)

// lookup asks the running image on its look-up thread and decodes the answer.
// Where no image runs, v stays as it is.
func (im *Image) lookup(ctx context.Context, c *helperCall, v any) error {
	im.mu.Lock()
	lv := im.cur
	im.mu.Unlock()
	if lv == nil || lv.over() {
		if !im.cfg.Attach.set() {
			return nil
		}
		var err error
		if lv, err = im.acquire(ctx, lookupTimeout); err != nil {
			return err
		}
	}
	bounded, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	answer, err := lv.askLooking(bounded, c)
	if err != nil {
		return lv.unanswered(ctx, err)
	}
	return decodeAnswer(answer, v)
}

// unanswered says what became of a look-up that ended with err.
func (lv *live) unanswered(ctx context.Context, err error) error {
	var conn *swank.ConnError
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, context.DeadlineExceeded):
		return &UnansweredError{KindTimeout, fmt.Sprintf(
			"The image did not answer within %v: it is collecting garbage or out of processor time.", lookupTimeout)}
	case !errors.As(err, &conn) && !errors.Is(err, swank.ErrClosed):
		return err
	case lv.attached():
		return &UnansweredError{KindImageDied, "The attached Lisp was lost during this call: " + lv.epitaph() + "."}
	}
	return &UnansweredError{KindImageDied, "The Lisp image ended during this call: " + lv.epitaph() + "."}
}
