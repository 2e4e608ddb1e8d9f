package hub

import (
	"context"
	"slices"
	"time"
)

// Detail is all that is known of one session.
type Detail struct {
	Info
	PID         int       `json:"pid"`         // of its image; 0: none runs
	Started     time.Time `json:"started"`     // when that was
	CPU         float64   `json:"cpuSeconds"`  // that it has used, with the programs that it has started
	Memory      int64     `json:"memoryBytes"` // that these have now
	Evaluations int64     `json:"evaluations"` // since the session was made here
	Defined     string    `json:"defined"`     // in words; "" while it evaluates
	Disk        int64     `json:"diskBytes"`   // of its directories; sessions without a name share one
	DiskMore    bool      `json:"diskMore"`    // not all of them can be counted
	Owner       string    `json:"owner"`       // the server that has it, where several could; else ""

	// With limits: bytes of the disk, and what all sessions of the principal have used of the
	// processor in the hour that runs, in seconds.
	DiskLimit int64     `json:"diskLimit,omitempty"`
	HourCPU   float64   `json:"hourCpuSeconds,omitempty"`
	HourLimit float64   `json:"hourCpuLimit,omitempty"`
	HourEnds  time.Time `json:"hourEnds,omitzero"`
}

// Detail tells of the session of the principal that [Hub.List] calls so; nil: there is none.
// It starts no image.
func (h *Hub) Detail(ctx context.Context, principal, name string) *Detail {
	s := h.find(principal, name)
	if s == nil {
		return nil
	}
	w := s.Work()
	h.mu.Lock()
	d := &Detail{Info: s.infoLocked(), DiskLimit: h.o.Disk}
	if h.o.CPU > 0 {
		spent := h.spentLocked(principal)
		d.HourCPU, d.HourLimit, d.HourEnds = spent.used.Seconds(), h.o.CPU.Seconds(), spent.since.Add(cpuSpan)
	}
	h.mu.Unlock()
	if w == nil { // it is being made
		return d
	}
	s.costly.Lock()
	uses := w.Image.Uses(time.Since(s.memoryAt) > costlyTime)
	if uses.Memory > 0 {
		s.memory, s.memoryAt = uses.Memory, time.Now()
	}
	if time.Since(s.diskAt) > costlyTime {
		began := time.Now()
		s.disk = diskOf(w.dirs(uses.Disk))
		s.diskAt, s.diskTook = time.Now(), time.Since(began)
	}
	disk, memory := s.disk, s.memory
	s.costly.Unlock()
	brief := w.Image.Session(w.Session).Brief(ctx)
	d.PID, d.Started, d.CPU, d.Memory = uses.PID, uses.Since, uses.CPU.Seconds(), memory
	d.Evaluations, d.Defined = brief.Evaluations, brief.Defined
	d.Disk, d.DiskMore = disk.bytes, !disk.whole
	if o, ok := s.lease.(interface{ Owner() string }); ok {
		d.Owner = o.Owner()
	}
	return d
}

// costlyTime is how long that is told again which takes long to find out.
const costlyTime = time.Second

// find returns the session of the principal that [Hub.List] calls so, or nil.
func (h *Hub) find(principal, name string) *Session {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := h.allLocked()
	if i := slices.IndexFunc(all, func(s *Session) bool { return s.Principal == principal && s.label == name }); i >= 0 {
		return all[i]
	}
	return nil
}

// dirs are the directories on the disk that belong to the session alone: those that its image
// writes, and the one in which the server keeps what it defines.
func (w *Work) dirs(images []string) (dirs []string) {
	for _, dir := range []string{w.Dir, w.KeptDir} {
		if dir != "" {
			dirs = append(dirs, dir)
		}
	}
	return append(dirs, images...)
}
