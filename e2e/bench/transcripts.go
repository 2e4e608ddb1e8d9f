package main

import "time"

// transcripts measures evaluating beside a server that keeps no transcript, n pairs of
// blocks. Neither takes checkpoints, which would make the figures unsteady.
func (l lab) transcripts(t *table, n int) error {
	with, _, err := l.start("cache", "--no-checkpoints")
	if err != nil {
		return err
	}
	defer with.Close(10 * time.Second)
	without, _, err := l.start("cache", "--no-checkpoints", "--no-transcript")
	if err != nil {
		return err
	}
	defer without.Close(10 * time.Second)
	return compareEvaluations(t, with, without, n)
}
