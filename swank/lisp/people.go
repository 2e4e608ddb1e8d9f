package lisp

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"swank-mcp/swank/lisp/helper"
)

// A person who shares the image stops and pauses agents, by functions of the helper's
// (helper/people) or by a command that reaches this process. The bridge learns of the
// first by a message of the image.

// personStop says how a person has stopped an evaluation.
type personStop struct {
	asked bool // the image has interrupted it already
}

// told takes in a message of inst, nil if that is not ready yet. It is called on the
// connection's reader and must not block.
func (im *Image) told(inst *instance, text string) {
	first, rest, _ := strings.Cut(text, "\n")
	words := strings.Fields(first)
	if len(words) < 2 || words[0] != "swank-mcp" { // it is for an editor
		return
	}
	switch words[1] {
	case "stopped":
		im.stopTokens(words[2:])
	case "shown":
		im.show(words[2:], rest)
	case "paused", "resumed":
		im.mu.Lock()
		im.pauses++
		im.unheard = false // the person's newest word is this one
		im.pauseLocked(words[1] == "paused")
		im.mu.Unlock()
	case "asks":
		im.asker().asks(inst, words[2:], rest)
	case "answered":
		im.asker().answered(inst, words[2:])
	case "policy":
		im.notePolicy(words[2:])
	}
}

// stopTokens has the evaluations of those tokens, which the image has interrupted, end.
func (im *Image) stopTokens(tokens []string) {
	im.mu.Lock()
	defer im.mu.Unlock()
	for _, h := range im.calls {
		if slices.Contains(tokens, strconv.FormatInt(h.e.token, 10)) {
			h.end(personStop{asked: true})
		}
	}
}

// echo has the image show people what agents do there, if they want that.
func (im *Image) echo(ctx context.Context, inst *instance) {
	if !im.cfg.Echo || inst.single {
		return
	}
	ctx, cancel := inst.forAnswer(ctx)
	defer cancel()
	if _, err := inst.ask(ctx, helper.NewCall("ECHO")); err != nil {
		im.log.Warn("showing evaluations in the image", "err", err)
	}
}

// end has the evaluation end; it does not wait for that.
func (h *ears) end(how personStop) {
	select {
	case h.stop <- how:
	default: // it knows
	}
}

// Stopped is an evaluation that [Image.Stop] has ended.
type Stopped struct {
	Session string
	Code    string // its beginning, one line
	Age     time.Duration
}

// Stop ends what is evaluated in the image, and in images that were started for one call,
// because a person wants that: their replies say so. It returns what that was, oldest first,
// when all of it has ended. Suspended evaluations stay as they are, and calls that wait for
// their turn begin then. The error is the cause of ctx; what has been stopped is stopped.
func (im *Image) Stop(ctx context.Context) ([]Stopped, error) {
	all := im.inFlight()
	slices.SortFunc(all, func(a, b *ears) int { return a.since.Compare(b.since) })
	var ended []Stopped
	for _, h := range all {
		code := h.e.job.code
		if code == "" {
			code = h.e.job.title
		}
		ended = append(ended, Stopped{Session: h.e.s.name, Code: firstLine(code, 80), Age: time.Since(h.since)})
		h.end(personStop{})
	}
	for _, h := range all {
		select {
		case <-h.ended:
		case <-ctx.Done():
			return ended, context.Cause(ctx)
		}
	}
	return ended, nil
}

// inFlight returns the evaluations that run in the image and in those of its own.
func (im *Image) inFlight() []*ears {
	im.mu.Lock()
	var all []*ears
	for _, h := range im.calls {
		all = append(all, h)
	}
	others := slices.Clone(im.others)
	im.mu.Unlock()
	for _, other := range others {
		all = append(all, other.inFlight()...)
	}
	return all
}

// adopt notes an image that was started for one call, until the function returned is called.
func (im *Image) adopt(other *Image) (leave func()) {
	im.mu.Lock()
	defer im.mu.Unlock()
	im.others = append(im.others, other)
	return func() {
		im.mu.Lock()
		defer im.mu.Unlock()
		im.others = slices.DeleteFunc(im.others, func(o *Image) bool { return o == other })
	}
}

// count notes what an image that was started for one call, and is about to end, has used of the
// processor.
func (im *Image) count(other *Image) {
	used := other.Uses(false).CPU
	im.mu.Lock()
	defer im.mu.Unlock()
	im.beside += used
	other.counted = true
}

// usesBeside is what the images that were started for one call have used of the processor.
func (im *Image) usesBeside() time.Duration {
	im.mu.Lock()
	used, others := im.beside, slices.Clone(im.others)
	others = slices.DeleteFunc(others, func(o *Image) bool { return o.counted })
	im.mu.Unlock()
	for _, other := range others {
		used += other.Uses(false).CPU
	}
	return used
}
