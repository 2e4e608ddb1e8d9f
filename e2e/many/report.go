package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// report prints what happened, and returns what should not have.
func report(o options, all []*session, kills []time.Time) error {
	var took []time.Duration
	again, resent := map[string]int{}, 0
	broken, cut := map[string]int{}, 0
	var errs []error
	for _, s := range all {
		took = append(took, s.took...)
		for text, n := range s.broken {
			broken[text] += n
			cut += n
		}
		errs = append(errs, s.errs...)
		for text, n := range s.again {
			again[text] += n
			resent += n
		}
	}
	fmt.Printf("%d calls answered, in p50 %.3f s, p99 %.3f s, at most %.3f s; every acknowledged definition of %d sessions is there\n",
		len(took), at(took, 50), at(took, 99), at(took, 100), len(all))
	for _, text := range slices.Sorted(maps.Keys(again)) {
		fmt.Printf("%6d times: %s\n", again[text], text)
	}
	for _, text := range slices.Sorted(maps.Keys(broken)) {
		fmt.Printf("%6d times broken off: %s\n", broken[text], text)
	}
	for _, err := range errs {
		fmt.Println("       failed:", err)
	}
	if len(errs) > 0 {
		return fmt.Errorf("%d calls failed", len(errs))
	}
	if o.update != "" && resent+cut > 0 {
		return errors.New("calls had to be sent again while the image was changed")
	}
	return late(o, all, kills)
}

// late prints how long after each kill sessions had no answer who had been sent to, and
// returns an error if that was too long.
func late(o options, all []*session, kills []time.Time) error {
	worst := time.Duration(0)
	for i, kill := range kills {
		var waits []time.Duration
		for _, s := range all {
			for j, end := range s.answers {
				if began := end.Add(-s.took[j]); began.Before(kill.Add(o.every/2)) && end.After(kill) {
					waits = append(waits, end.Sub(maxTime(began, kill)))
				}
			}
		}
		fmt.Printf("kill %d: calls after it were answered within p50 %.2f s, p99 %.2f s, %.2f s\n", i+1, at(waits, 50), at(waits, 99), at(waits, 100))
		if len(waits) > 0 {
			worst = max(worst, slices.Max(waits))
		}
	}
	if worst > o.takeover {
		return fmt.Errorf("a call was answered only after %.2f s; %v are allowed", worst.Seconds(), o.takeover)
	}
	return nil
}

func maxTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// at returns the percentile of d in seconds.
func at(d []time.Duration, percent int) float64 {
	if len(d) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(d))
	return sorted[min(len(sorted)-1, len(sorted)*percent/100)].Seconds()
}
