package truth

import (
	"testing"

	"swank-mcp/e2e/model"
	"swank-mcp/internal/tier"
)

// For all sequences of definitions, of what is none, of edits, loads, resets
// and deaths: what is asked for answers as who defined it last has said, or is
// named as lost, for a reason for which it may be.
func TestTruthProperty(t *testing.T) {
	tier.More(t)
	t.Parallel()
	model.Property{
		Weights: map[string]int{
			"define": 36, "live": 5, "nothing": 6, "setup": 2, "call": 3, "pair": 2, "undo definition": 5,
			"package": 4, "delete": 1, "rename": 1, "unintern": 1,
			"edit": 2, "edit and load": 5, "edits and loads": 1, "load": 2, "test": 2, "file of mini": 1,
			"die": 5, "reset": 2, "save": 2, "save and bring back": 1,
		},
		Sequences: 2, Steps: 60,
		Begin: (*model.Run).HasMini,
		Check: (*model.Run).Answers,
	}.Holds(t)
}
