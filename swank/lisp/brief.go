package lisp

import (
	"context"
	"time"

	"swank-mcp/swank/lisp/launch"
)

// Brief is what the bridge knows of a session without asking its image.
type Brief struct {
	Evaluations int64  // that images have seen: code, systems, tests and so on
	Defined     string // in words, "3 definitions and the system alexandria", "nothing"; "" while the session is busy
}

// Brief tells it. It starts no image, and waits for no job of a client.
func (s *Session) Brief(ctx context.Context) Brief {
	b := Brief{Evaluations: s.evaluated.Load()}
	t := s.place(ctx, true)
	if s.waitIdle(ctx, t) != nil {
		return b
	}
	defer s.done()
	if b.Defined = "nothing"; !s.journal.Empty() {
		b.Defined = s.journal.Summary()
	}
	return b
}

// Uses is what the image that runs uses of the machine.
type Uses struct {
	PID    int           // 0: none runs
	Since  time.Time     // when it was started
	CPU    time.Duration // so far, with the programs that it has started; see [launch.Process.CPU]
	Beside time.Duration // of the processor, by images that were started for one call, ever
	Memory int64         // bytes, with these; 0 unless it was asked for
	Disk   []string      // directories in which it writes and no other one does
}

// WriteNothing has the image that runs, in a sandbox, make no file longer, with the programs
// that it has started, and those that are started later; or lets them do that again. What is
// written into pipes and sockets goes on.
func (im *Image) WriteNothing(nothing bool) error {
	im.noFiles.Store(nothing)
	im.mu.Lock()
	inst := im.cur
	im.mu.Unlock()
	if inst == nil {
		return nil
	}
	if p, ours := inst.proc.(*launch.Process); ours && !p.HasExited() {
		return p.WriteNothing(nothing)
	}
	return nil
}

// Uses tells it of an image of ours; memory says whether that, too, which takes longest.
func (im *Image) Uses(memory bool) (u Uses) {
	im.mu.Lock()
	inst := im.cur
	im.mu.Unlock()
	if inst == nil {
		return Uses{}
	}
	p, ours := inst.proc.(*launch.Process)
	if !ours || p.HasExited() {
		return Uses{}
	}
	u = Uses{PID: p.PID(), Since: inst.born, CPU: p.CPU(), Beside: im.usesBeside(), Disk: p.Disk()}
	if memory {
		u.Memory = p.Memory()
	}
	return u
}
