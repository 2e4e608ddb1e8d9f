package main

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"swank-mcp/people/control"
)

// The server that was started first stands first, also where numbers of processes have begun again.
func TestByStart(t *testing.T) {
	t.Parallel()
	at := func(id string, second int64) *running {
		return &running{Client: &control.Client{ID: id}, status: &control.Status{Started: time.Unix(second, 0)}}
	}
	mute := func(id string) *running {
		return &running{Client: &control.Client{ID: id}, err: errors.New("mute")}
	}
	all := []*running{mute("8"), at("315", 20), at("32741", 10), mute("7"), at("316", 20)}
	slices.SortFunc(all, byStart)
	var ids []string
	for _, r := range all {
		ids = append(ids, r.ID)
	}
	if got := strings.Join(ids, " "); got != "32741 315 316 7 8" {
		t.Errorf("they are %s", got)
	}
}
