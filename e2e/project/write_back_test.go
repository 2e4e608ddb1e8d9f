package project

import (
	"testing"

	"swank-mcp/e2e/model"
	"swank-mcp/internal/tier"
)

// TestWriteBack: definitions of Debian's libraries that are evaluated with a blank more
// and written go into their places; evaluated and written as they were, they leave their
// files byte for byte as these were.
func TestWriteBack(t *testing.T) {
	tier.More(t)
	t.Parallel()
	model.Property{
		Weights: map[string]int{"write back": 1},
		Steps:   24,
		Begin:   (*model.Run).HasLibraries,
		End:     (*model.Run).WroteMost,
	}.Holds(t)
}
