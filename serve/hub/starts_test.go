package hub

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// begun has starts of the principal wait one after the other, which last so long, and returns where
// those that have begun are noted.
func begun(t *testing.T, h *Hub, order chan<- string, lasts time.Duration, principal string, n int) {
	t.Helper()
	for i := range n {
		s := of(t, h, principal, fmt.Sprint(i))
		go func() {
			ended, err := owner{s}.Admit(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			order <- principal
			time.Sleep(lasts)
			ended()
		}()
		synctest.Wait()
	}
}

// Who has a hundred images to start has others wait for one of them, not for all.
func TestStartsAreFair(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := testHub(t, Options{})
		order := make(chan string, 200)
		begun(t, h, order, time.Second, "flood", 100)
		begun(t, h, order, time.Second, "anna", 2)
		begun(t, h, order, time.Second, "bert", 2)
		pass(time.Hour)
		close(order)
		var all []string
		for principal := range order {
			all = append(all, principal)
		}
		if len(all) != 104 {
			t.Fatalf("%d have started", len(all))
		}
		// Those that start at once are noted in any order.
		next := all[startsAtOnce():][:max(6, startsAtOnce())]
		slices.Sort(next)
		if want := []string{"anna", "anna", "bert", "bert", "flood", "flood"}; !slices.Equal(next[:6], want) {
			t.Errorf("after the first, these start: %v", next)
		}
	})
}

// Starts that stand still hold up others for a while only; who gives up waiting takes nobody's
// turn.
func TestSlowStart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := testHub(t, Options{})
		order := make(chan string, 200)
		begun(t, h, order, 24*time.Hour, "flood", startsAtOnce())
		gone, leave := context.WithCancelCause(t.Context())
		answer := make(chan error, 1)
		go func() {
			_, err := owner{of(t, h, "anna", "gone")}.Admit(gone)
			answer <- err
		}()
		synctest.Wait()
		left := errors.New("the image was closed")
		leave(left)
		if err := <-answer; !errors.Is(err, left) {
			t.Errorf("who has gone: %v", err)
		}
		begun(t, h, order, time.Second, "anna", 1)
		pass(startTurn - time.Second)
		if n := len(order); n != startsAtOnce() {
			t.Errorf("%d have begun early", n)
		}
		pass(2 * time.Second)
		if n := len(order); n != startsAtOnce()+1 {
			t.Errorf("%d have begun after the slow ones had their time", n)
		}
		pass(48 * time.Hour)
		if h.starts.under != 0 {
			t.Errorf("%d starts are under way for ever", h.starts.under)
		}
	})
}
