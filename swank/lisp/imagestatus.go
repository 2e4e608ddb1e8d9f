package lisp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"swank-mcp/swank/lisp/helper"
)

// Status tells what is known of the image and of one session. It never starts
// an image and never waits for an evaluation. Of an image that has not answered yet, Notes say
// so.
func (s *Session) Status(ctx context.Context) (*Status, error) {
	unreached := s.im.reach(ctx)
	s.im.mu.Lock()
	inst, starting, starts, lastEnd, coreErr := s.im.cur, s.im.start != nil, s.im.starts, s.im.lastEnd, s.im.coreErr
	s.im.mu.Unlock()

	st := &Status{State: "not started", Launched: s.im.cfg.Attach.IsZero(), Project: s.im.Project(ctx), Package: "COMMON-LISP-USER"}
	if sandbox := s.im.cfg.Launch.Sandbox; sandbox != nil && st.Launched {
		st.Sandbox = sandbox.Says(ctx)
	}
	if starts > 1 {
		st.Restarts = starts - 1
	}
	if lastEnd != "" {
		what := "The previous image ended: "
		if !st.Launched {
			what = "The connection before this one ended: "
		}
		st.Notes = append(st.Notes, what+lastEnd+".")
	}
	if coreErr != nil {
		st.Notes = append(st.Notes, "No core could be cached, so every start takes longer: "+coreErr.Error())
	}
	if unreached != "" {
		st.Notes = append(st.Notes, unreached)
	}
	st.Running, st.Waiting = s.running()
	st.Paused = s.im.Paused()
	st.Jobs = s.background.views()
	st.Checkpoints, st.Obstacle = s.Checkpoints()
	switch {
	case inst == nil && !s.im.cfg.Attach.IsZero():
		st.State = "not connected"
		st.Address = s.im.cfg.Attach.String()
	case inst == nil && starting && starts > 0:
		st.State = "replacing"
	case inst == nil && starting:
		st.State = "starting"
	case inst == nil && starts > 0:
		st.State = "ended"
	}
	if inst == nil && s.im.resumes() {
		st.Resumes = true
		st.Notes = append(st.Notes, fmt.Sprintf("The first evaluation goes on from checkpoint %s on the disk.", s.im.cfg.Resume))
	}
	if inst == nil {
		return st, nil
	}
	st.State = "running"
	st.PID = inst.proc.PID()
	st.Implementation = inst.info.Implementation.Type + " " + inst.info.Implementation.Version
	st.SwankVersion = inst.info.Version
	if network, addr := inst.proc.Address(); network != "" {
		st.Address = network + ":" + addr
	}
	st.Launched = !inst.attached()
	st.FromCore = inst.proc.FromCore()
	st.Uptime = time.Since(inst.born)
	st.Notes = append(st.Notes, inst.proc.Remarks()...)
	st.Background = inst.proc.Background()
	s.askStatus(ctx, inst, st)
	st.Obstacle = st.Obstacle.still(st.Threads)
	return st, nil
}

// askStatus adds what the image itself knows.
func (s *Session) askStatus(ctx context.Context, inst *instance, st *Status) {
	if inst.single && s.im.evaluates() {
		st.Notes = append(st.Notes, "The image is not asked: Swank in it uses no threads, and answers when the evaluation that runs has ended.")
		return
	}
	bounded, cancel := inst.forAnswer(ctx)
	defer cancel()
	var w wireStatus
	answer, err := inst.ask(bounded, helper.NewCall("STATUS").Str(s.name))
	if err == nil {
		err = helper.Decode(answer, &w)
	}
	if err != nil {
		note := "The image does not answer: " + err.Error()
		var slow *UnansweredError
		switch {
		case errors.As(err, &slow):
			note = slow.Why
		case errors.Is(err, context.DeadlineExceeded):
			note = "The image has not answered yet: " + inst.silence() + "."
		}
		st.Notes = append(st.Notes, note)
		return
	}
	st.Package, st.Threads = w.Package, w.Threads
	st.HeapUsed, st.HeapLimit = w.HeapUsed, w.HeapLimit
	if w.Echo != "" {
		st.Notes = append(st.Notes, "What agents do is shown in "+w.Echo+".")
	}
	for _, d := range w.Definitions {
		if st.Definitions == nil {
			st.Definitions = map[string]int{}
		}
		st.Definitions[strings.TrimPrefix(string(d.Section), ":")] = d.Count
	}
	st.Systems = w.Systems
	for _, l := range w.Lost {
		st.Lost = append(st.Lost, l.String())
	}
	s.meet(inst, w.SuspendedThreads)
	for _, a := range w.Suspended {
		if s := s.suspended.find(a.Token); s != nil {
			st.Suspended = append(st.Suspended, s.public(time.Duration(a.Age)*time.Microsecond))
		}
	}
	if w.Running != nil && st.Running != nil {
		st.Running.Frames, st.Running.Waits = w.Running.Frames, w.Running.Waits
	}
}

// evaluates reports whether an evaluation of ours is in the image.
func (im *Image) evaluates() bool {
	im.mu.Lock()
	defer im.mu.Unlock()
	return len(im.calls) > 0
}
