package lisp

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func take(ctx context.Context, q *turns, t *turn) error {
	q.join(t)
	return q.wait(ctx, t)
}

func TestTurnsAreFirstComeFirstServed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var q turns
		first := &turn{code: "(sleep 5)", limit: time.Minute}
		if err := take(t.Context(), &q, first); err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var order []int
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				if err := take(t.Context(), &q, &turn{limit: time.Minute}); err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				order = append(order, i)
				mu.Unlock()
				q.done()
			})
			synctest.Wait() // it is in the queue before the next one comes
		}
		q.done()
		wg.Wait()
		if !slices.IsSorted(order) || len(order) != 20 {
			t.Errorf("turns were taken in the order %v", order)
		}
		if r, n := q.running(); r != nil || n != 0 {
			t.Errorf("afterwards running() = %v, %d, want nobody", r, n)
		}
	})
}

func TestTurnNotGottenInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var q turns
		if err := take(t.Context(), &q, &turn{code: "(loop)", limit: time.Hour}); err != nil {
			t.Fatal(err)
		}
		wg := sync.WaitGroup{}
		wg.Go(func() { // stays in front of the one that gives up
			if err := take(t.Context(), &q, &turn{limit: time.Hour}); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		time.Sleep(3 * time.Second)
		err := take(t.Context(), &q, &turn{limit: 2 * time.Second})
		var busy *BusyError
		if !errors.As(err, &busy) {
			t.Fatalf("take = %v, want a *BusyError", err)
		}
		want := BusyError{Waited: 2 * time.Second, Code: "(loop)", Age: 5 * time.Second, Limit: time.Hour, Ahead: 1}
		if *busy != want {
			t.Errorf("take = %+v, want %+v", *busy, want)
		}
		q.done()
		wg.Wait()
		// The one that has it now has no code: its limit is no promise to stop.
		time.Sleep(time.Second)
		err = take(t.Context(), &q, &turn{limit: 2 * time.Second})
		want = BusyError{Waited: 2 * time.Second, Code: "work that evaluates nothing", Age: 3 * time.Second}
		if !errors.As(err, &busy) || *busy != want {
			t.Errorf("take = %v, want %+v", err, want)
		}
	})
}

func TestTurnOfACallerWhoLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var q turns
		if err := take(t.Context(), &q, &turn{limit: time.Hour}); err != nil {
			t.Fatal(err)
		}
		why := errors.New("the client went away")
		ctx, cancel := context.WithCancelCause(t.Context())
		got := make(chan error, 1)
		go func() { got <- take(ctx, &q, &turn{limit: time.Hour}) }()
		synctest.Wait()
		cancel(why)
		if err := <-got; err != why {
			t.Errorf("take = %v, want %v", err, why)
		}
		q.done()
		if err := take(t.Context(), &q, &turn{limit: time.Second}); err != nil {
			t.Errorf("the turn was lost with the caller who left: %v", err)
		}
	})
}
