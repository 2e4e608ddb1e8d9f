package lisp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"swank-mcp/swank"
	"swank-mcp/swank/lisp/journal"
)

// Code may redefine functions that the bridge stands on: Swank's, the helper's,
// or a method for all objects. That is the user's right; what it breaks must not
// stay broken.

// noteFault notes that the image has not answered as it should, and reports whether
// that was so the time before, too.
func (inst *instance) noteFault() bool { return inst.faults.Add(1) >= 2 }

// clearFaults notes an answer that was understood.
func (inst *instance) clearFaults() { inst.faults.Store(0) }

// noteFault is that of the image; it keeps with which code it began.
func (e *evaluation) noteFault() bool {
	again := e.inst.noteFault()
	if !again {
		e.s.fault = firstLine(e.job.title, 200)
	}
	return again
}

// misunderstood is the result of an evaluation whose answer makes no sense.
func (e *evaluation) misunderstood(err error) *Result {
	next := "If the next answer is not understood either, the image is replaced and the session is brought back."
	if e.inst.attached() {
		next = "If the next answer is not understood either, the bridge connects anew."
	}
	return &Result{Failure: &Failure{
		Type: "ANSWER-BROKEN",
		Message: fmt.Sprintf("What the image answers is not understood: %v. The code may have been evaluated. %sSend the call again. %s",
			err, e.s.culprit(e.inst.attached()), next),
	}}
}

// broken replaces an image that does not understand us any more, as after
// (delete-package :swank).
func (e *evaluation) broken(err error) *Result {
	const why = "Code must have changed or deleted a package of Swank or swank-mcp, or functions of COMMON-LISP. "
	culprit := e.s.culprit(e.inst.attached())
	if culprit == "" {
		culprit = why
	}
	e.inst.kill("Swank or the helper in it was broken")
	if e.inst.attached() {
		return &Result{Failure: &Failure{
			Type: "IMAGE-BROKEN",
			Message: fmt.Sprintf("The attached image does not understand the bridge any more: %v.\n%sThe next call connects anew and "+
				"loads the helper again; if Swank itself is broken, the Lisp has to be restarted by its owner.", err, culprit),
		}}
	}
	return &Result{Failure: &Failure{
		Type: typeReplaced,
		Message: fmt.Sprintf("The image does not understand the bridge any more: %v.\n%sA new image takes its place and "+
			"the next call works in it. %s", err, culprit, e.kept()),
	}}
}

// culprit names the newest definition of the session that changes the bridge's
// own functions, or else the code with which it began, as a sentence or two to be
// followed by others; "" if nothing is known.
func (s *Session) culprit(attached bool) string {
	for _, e := range slices.Backward(s.journal.All()) {
		if !e.Own {
			continue
		}
		text := fmt.Sprintf("The likely culprit is %s, which this session has defined: %s. ", journal.InWords(e.Keys[0]), firstLine(e.Text, 200))
		if attached {
			text += undoing(e.Keys[0])
		}
		return text
	}
	if s.fault != "" {
		return fmt.Sprintf("The likely culprit is the code after which that began: %s. ", s.fault)
	}
	return ""
}

// undoing says how a definition is undone in an attached image.
func undoing(key string) string {
	switch {
	case strings.HasPrefix(key, "(:METHOD"):
		return "To undo it, remove that method in the Lisp's own REPL, with remove-method and find-method. "
	case strings.Contains(key, "SWANK-MCP:"):
		return "To undo it, evaluate (delete-package :swank-mcp) in the Lisp's own REPL. "
	}
	return "To undo it, load the source of " + journal.InWords(key) + " again in the Lisp's own REPL. "
}

// queryError passes on what has become of a call beside evaluations. One that the
// image could not do, or whose answer is not understood, twice in a row, has the
// image replaced.
func (inst *instance) queryError(ctx context.Context, err error) error {
	var conn *swank.ConnError
	var slow *UnansweredError
	switch {
	case err == nil:
		inst.clearFaults()
		return nil
	case ctx.Err() != nil, errors.Is(err, context.DeadlineExceeded), errors.As(err, &slow), errors.As(err, &conn), errors.Is(err, swank.ErrClosed), inst.over():
		return err
	case !inst.noteFault():
		return err
	}
	inst.kill("Swank or the helper in it was broken")
	if inst.attached() {
		return &UnansweredError{KindImageDied, fmt.Sprintf("The attached image does not understand the bridge any more: %v. "+
			"The next call connects anew and loads the helper again.", err)}
	}
	return &UnansweredError{KindImageDied, fmt.Sprintf("The image does not understand the bridge any more: %v. "+
		"Code must have changed functions of Swank or swank-mcp, or a method for all objects. A new image takes its place, "+
		"and the session is brought back into it, without such definitions.", err)}
}
