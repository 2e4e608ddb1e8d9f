package host

import (
	"context"
	"time"
)

// gaugeEvery is the interval at which a process is looked at that has a limit. It is no divisor
// of the intervals by which systems share out processors: else all looks could meet the same
// part of these.
const gaugeEvery = 37 * time.Millisecond

// Within returns a context that ends with cause when the process pid could act for limit, as a
// [Gauge] measures that. So a process that is stopped, or that the machine gives no time, does
// not run into limit. For pid 0, and where the system does not tell, limit is on the clock.
//
// The caller calls cancel, which ends the goroutine that measures.
func Within(ctx context.Context, pid int, limit time.Duration, cause error) (_ context.Context, cancel context.CancelFunc) {
	bounded, end := context.WithCancelCause(ctx)
	go func() {
		look := time.NewTicker(min(gaugeEvery, limit))
		defer look.Stop()
		var g *Gauge // not before it is needed: most waits are short, and to look costs
		for left := limit; left > 0; {
			select {
			case <-bounded.Done():
				return
			case <-look.C:
			}
			if g == nil {
				g = NewGauge(pid)
			} else {
				left -= g.Chance()
			}
		}
		end(cause)
	}()
	return bounded, func() { end(nil) }
}
