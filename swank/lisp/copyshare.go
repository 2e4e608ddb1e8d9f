package lisp

import (
	"math/rand/v2"
	"sync"
	"time"
)

// CopyShare bounds how much time the images that share it spend on checkpoints that they take
// by themselves: one is a fork, which is little for one image and all a machine can do for
// hundreds at work. Nil bounds nothing.
type CopyShare struct {
	part int // of the time, one in so many
	save time.Duration

	mu   sync.Mutex
	next time.Time // when the next one may be taken
}

// NewCopyShare returns a share of one in part of the time. What was not used in the time save
// can be used at once.
func NewCopyShare(part int, save time.Duration) *CopyShare {
	return &CopyShare{part: part, save: save}
}

// wait is how long nobody is to take a checkpoint from now on; 0 is not at all.
func (s *CopyShare) wait() time.Duration {
	if s == nil {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	wait := time.Until(s.next)
	if wait <= 0 {
		return 0
	}
	return wait + rand.N(wait+time.Second) // so that not all come back at once
}

// spent says how long a checkpoint has taken.
func (s *CopyShare) spent(d time.Duration) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if longest := time.Now().Add(-s.save); s.next.Before(longest) {
		s.next = longest
	}
	s.next = s.next.Add(time.Duration(s.part) * d)
}
