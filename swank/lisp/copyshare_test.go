package lisp

import (
	"testing"
	"testing/synctest"
	"time"
)

// Checkpoints take their part of the time, whoever takes them; some at once after a rest.
func TestCopyShare(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const length = 30 * time.Millisecond
		s := NewCopyShare(10, 10*time.Second)
		take := func(d time.Duration) (n int) {
			for end := time.Now().Add(d); time.Now().Before(end); {
				if wait := s.wait(); wait > 0 {
					time.Sleep(wait)
					continue
				}
				time.Sleep(length)
				s.spent(length)
				n++
			}
			return n
		}
		if n := take(2 * time.Second); n < 30 || n > 50 {
			t.Errorf("after a rest %d are taken in 2 s", n)
		}
		if n := take(10 * time.Minute); n < 500 || n > 2100 {
			t.Errorf("in 10 minutes %d are taken", n)
		}
		var none *CopyShare
		none.spent(time.Hour)
		if none.wait() != 0 {
			t.Error("nothing bounds those without a share")
		}
	})
}
