package lease

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// On one machine the kernel says at once that a server has ended.
func TestKilledHere(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		volume := t.TempDir()
		a, b, dir := opened(t, volume, kernel), opened(t, volume, kernel), session(t, volume, "x")
		take(t, a, dir)
		if a.here == "" {
			t.Fatal("it is not known which kernel this is")
		}
		if _, err := b.take(dir, term); !errors.As(err, new(*HeldError)) {
			t.Fatalf("from one that lives: %v", err)
		}
		a.kill()
		if _, err := b.take(dir, term/2); !errors.As(err, new(*HeldError)) {
			t.Fatalf("from one that stands still: %v", err)
		}
		a.own.Close() // as the kernel does
		began := time.Now()
		take(t, b, dir)
		if took := time.Since(began); took > 0 {
			t.Errorf("taken over after %v", took)
		}
	})
}
