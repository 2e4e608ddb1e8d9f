package lisp

import (
	"context"
	"errors"

	"swank-mcp/swank/lisp/helper"
)

// ErrNoImage says that no image runs, so there is nothing in it that a person could change.
var ErrNoImage = errors.New("lisp: no image runs; the first evaluation starts one")

// UndoEntry puts back what the entry of that number in the image's history has redefined,
// because a person wants that, and returns lines about what was put back and what was not.
// The error is ErrNoImage, that of an image that does not answer, or the cause of ctx.
func (im *Image) UndoEntry(ctx context.Context, number int64) (string, error) {
	return im.undoEntry(ctx, helper.NewCall("UNDO-FOR-BRIDGE").Num(number))
}

// PutBack is UndoEntry for what an evaluation has redefined. An entry that the image has lost,
// because it was taken back to before, is not there any more, and the lines say so.
func (im *Image) PutBack(ctx context.Context, entry, token int64) (string, error) {
	return im.undoEntry(ctx, helper.NewCall("UNDO-FOR-BRIDGE").Num(entry).Num(token))
}

func (im *Image) undoEntry(ctx context.Context, c *helper.Call) (string, error) {
	im.mu.Lock()
	inst := im.cur
	im.mu.Unlock()
	if inst == nil || inst.over() {
		return "", ErrNoImage
	}
	ctx, cancel := inst.forAnswer(ctx)
	defer cancel()
	answer, err := inst.ask(ctx, c)
	if err != nil {
		return "", err
	}
	var w struct {
		Text string `sexp:"text"`
	}
	err = helper.Decode(answer, &w)
	return w.Text, err
}
