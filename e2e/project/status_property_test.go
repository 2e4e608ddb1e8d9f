package project

import (
	"testing"

	"swank-mcp/e2e/model"
	"swank-mcp/internal/tier"
)

// TestStatusProperty edits files, defines and undoes live and loads, at random. After
// each step project-status says that what is loaded is what is on disk if and only if the
// image and a plain SBCL that loads the files answer the same for every name, also of functions
// that were compiled with an earlier macro, type, structure, constant or inlined function. One
// thing is left out, because project-status does not tell it: an assignment to a variable, which
// is no definition.
func TestStatusProperty(t *testing.T) {
	tier.More(t)
	t.Parallel()
	model.Property{
		Weights: map[string]int{
			"edit form": 4, "take away": 1, "live form": 3, "live and written": 2, "as written": 1, "undo form": 1,
			"load one": 3, "other files": 1, "tidy": 5, "load by status": 1, "load project": 4,
		},
		Steps: 20,
		Begin: (*model.Run).HasProject,
		Check: (*model.Run).StatusIsTrue,
		End:   (*model.Run).StatusWasBoth,
	}.Holds(t)
}
