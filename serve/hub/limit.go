package hub

import (
	"fmt"
	"time"
)

// Limits of a [Hub]. Zero is no limit.
type Limits struct {
	Sessions     int // in all, those included that have no image now
	PerPrincipal int // of one principal
	Images       int // that run at once
}

// LimitError says that there is no room now.
type LimitError struct {
	What  string        // "sessions", "images"
	Most  int           // of them
	Own   bool          // the limit is of each principal
	After time.Duration // when it is worth trying again
	Next  string        // one sentence: what else helps
}

func (e *LimitError) Error() string {
	text := fmt.Sprintf("The server has %d %s, which is its limit, and all are in use.", e.Most, e.What)
	if e.Own {
		text = fmt.Sprintf("You have %d %s on this server, which is the limit for each of its users.", e.Most, e.What)
	}
	return fmt.Sprintf("%s Nothing was done. Send the same again in %d seconds%s.", text, e.Seconds(), e.Next)
}

// Seconds is After as a whole number, at least 1.
func (e *LimitError) Seconds() int { return max(1, int((e.After+time.Second-1)/time.Second)) }

// retryAtMost is the longest that a client is sent away for: sessions are ended at any time.
const retryAtMost = time.Minute

func later(d time.Duration) time.Duration { return min(max(d, time.Second), retryAtMost) }
