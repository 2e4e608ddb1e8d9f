package survival

import (
	"testing"

	"swank-mcp/e2e/model"
	"swank-mcp/internal/tier"
)

// TestMixedCalls makes several hundred calls of all kinds, eight at a time:
// debugger levels, handles, threads and evaluations of one session get into
// each other's way. Each must be answered in time, and nothing may be left of
// them after a reset.
func TestMixedCalls(t *testing.T) {
	tier.More(t)
	t.Parallel()
	model.Property{
		Weights: map[string]int{
			"add": 3, "recursive": 1, "call recursive": 1, "loop": 1, "err": 1, "suspend": 4, "backtrace": 1, "frame": 1,
			"evaluate in frame": 1, "restart": 2, "abort": 1, "go on": 1, "inspect": 2, "inspect part": 2, "trace": 1, "profile": 1,
			"threads": 1, "new thread": 1, "interrupt thread": 1, "memory": 1, "status": 1, "list": 1, "describe": 1,
			"search": 1, "expand": 1, "validate": 1,
		},
		Steps:    500,
		Begin:    (*model.Run).Mixes,
		End:      (*model.Run).LeavesNothing,
		Together: 8,
	}.Holds(t)
}
