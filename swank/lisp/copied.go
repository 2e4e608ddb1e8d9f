package lisp

import (
	"context"
	"errors"
	"fmt"
	"time"

	"swank-mcp/swank"
	"swank-mcp/swank/lisp/helper"
)

// copyTimeout is how long an image may take to make a copy of itself, with what the
// program wants to be done before, or to do what the program wants to be done after; of the
// time in which it could act.
var copyTimeout = 15 * time.Second

// silenceLimit is how long after that an image that is being copied may answer nothing at
// all though it could act: its threads that serve us have ended.
var silenceLimit = 45 * time.Second

// answerOfCopied has the control thread do the call, by which the image makes a copy of
// itself, and returns the answer, which may be late. An image that serves without
// answering is left as it is, with another control thread; one that does not serve any more
// is killed.
func (inst *instance) answerOfCopied(ctx context.Context, c *helper.Call) (string, error) {
	control := inst.controlThread()
	call, err := c.Send(inst.conn, control)
	if err != nil {
		return "", err
	}
	within := func(limit time.Duration) (answer string, late bool, err error) {
		bounded, cancel := inst.within(ctx, limit)
		defer cancel()
		answer, err = grabbed(bounded, call)
		return answer, ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded), err
	}
	answer, late, err := within(copyTimeout)
	if !late {
		return answer, err
	}
	bounded, cancel := inst.within(ctx, silenceLimit)
	defer cancel()
	if err := inst.conn.Ping(bounded, swank.NewWorker); errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		inst.kill("it did not come back from a checkpoint")
		return "", err
	}
	if answer, late, err = within(time.Second); !late {
		return answer, err
	}
	_, _ = helper.NewCall("RELEASE-THREAD").Num(int64(control)).Send(inst.conn, swank.NewWorker)
	id, err := inst.threadBy(bounded, helper.NewCall("START-THREAD").Str(controlName))
	if err != nil {
		return "", err
	}
	inst.mu.Lock()
	inst.control = id
	inst.mu.Unlock()
	return "", &ObstacleError{Why: fmt.Sprintf("it did not answer within %v", copyTimeout)}
}
