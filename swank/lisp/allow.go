package lisp

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"

	"swank-mcp/swank/lisp/helper"
)

// A Policy says what agents may do without the person's yes.
type Policy string

// AllowNew has the person asked before a form of an agent redefines what no agent has
// defined in its session, AllowNothing before each evaluation.
const (
	AllowEverything Policy = "everything"
	AllowNew        Policy = "new"
	AllowNothing    Policy = "nothing"
)

// ErrAllAgents says why AllowNew means nothing in an image that was launched.
var ErrAllAgents = errors.New("lisp: the image was launched for agents, and what is defined in it counts as theirs: allow everything or nothing")

// Policy is what holds in the image, as far as it is known: an image that a person runs is
// asked when it is attached to.
func (im *Image) Policy() Policy {
	im.mu.Lock()
	defer im.mu.Unlock()
	return cmp.Or(im.policy, AllowEverything)
}

// Allow says what agents may do, as the helper's function of that name does. It holds also
// for images that start later, where those are launched. The error is ErrAllAgents, that of
// an image that does not answer, or the cause of ctx.
func (im *Image) Allow(ctx context.Context, policy Policy) error {
	if policy == AllowNew && im.cfg.Attach.IsZero() {
		return ErrAllAgents
	}
	return im.allow(ctx, policy)
}

// allow is Allow, also for the images that were started for one call.
func (im *Image) allow(ctx context.Context, policy Policy) error {
	im.mu.Lock()
	im.changePolicyLocked(policy)
	im.untold = true
	inst, st := im.cur, im.start
	others := slices.Clone(im.others)
	im.mu.Unlock()
	for _, other := range others {
		if err := other.allow(ctx, policy); err != nil {
			return err
		}
	}
	if inst == nil && st != nil {
		select {
		case <-st.done:
			inst = st.inst
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if inst == nil || inst.over() {
		return nil
	}
	err := im.tellPolicy(ctx, inst)
	if err == nil {
		im.mu.Lock()
		im.untold = false
		im.mu.Unlock()
	}
	return err
}

// changePolicyLocked publishes what is new. The caller holds im.mu.
func (im *Image) changePolicyLocked(policy Policy) {
	if policy != cmp.Or(im.policy, AllowEverything) {
		im.events.publish(Event{Kind: EventPolicy, Text: string(policy)})
	}
	im.policy = policy
}

// notePolicy takes in what a person has said in the image. The reader of the connection
// calls it.
func (im *Image) notePolicy(words []string) {
	if len(words) == 0 || im.cfg.Attach.IsZero() { // in an image of ours it is what we have said
		return
	}
	im.mu.Lock()
	defer im.mu.Unlock()
	im.policies++
	im.changePolicyLocked(Policy(words[0]))
	im.untold = false
}

// tellPolicy tells inst what agents may do, if it does not know.
func (im *Image) tellPolicy(ctx context.Context, inst *instance) error {
	inst.policing.Lock()
	defer inst.policing.Unlock()
	im.mu.Lock()
	policy := cmp.Or(im.policy, AllowEverything)
	im.mu.Unlock()
	inst.mu.Lock()
	known := inst.policy == policy && !inst.attached() // in one that a person runs, they may have said otherwise
	inst.mu.Unlock()
	if known {
		return nil
	}
	ctx, cancel := inst.forAnswer(ctx)
	defer cancel()
	if _, err := inst.ask(ctx, helper.NewCall("ALLOW-FOR-BRIDGE").Key(policyKeys[policy])); err != nil {
		return err
	}
	inst.mu.Lock()
	inst.policy = policy
	inst.mu.Unlock()
	return nil
}

var policyKeys = map[Policy]string{AllowEverything: "EVERYTHING", AllowNew: "NEW", AllowNothing: "NOTHING"}

// holdPolicyLocked sees to it that inst, which is the image now, knows what was said while
// it started. The caller holds im.mu.
func (im *Image) holdPolicyLocked(inst *instance) {
	if inst.attached() && !im.untold {
		return
	}
	im.untold = false
	im.work.Go(func() {
		if err := im.tellPolicy(im.ctx, inst); err != nil && !inst.over() {
			im.log.Warn("telling the image what agents may do", "err", err)
		}
	})
}

// asker is the image whose person is asked.
func (im *Image) asker() *Image { return cmp.Or(im.cfg.parent, im) }

// number reads the number of a question in a message of the image.
func number(words []string) (int64, bool) {
	if len(words) < 2 {
		return 0, false
	}
	n, err := strconv.ParseInt(words[0], 10, 64)
	return n, err == nil
}
