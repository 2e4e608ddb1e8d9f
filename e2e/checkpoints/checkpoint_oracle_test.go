package checkpoints

import (
	"testing"

	"swank-mcp/e2e/model"
	"swank-mcp/internal/tier"
)

// TestCheckpointOracle changes objects of every kind at random, goes back and forward,
// tries, and kills the image. After each step the digest of all the objects is that which
// was noted when the image was there before.
func TestCheckpointOracle(t *testing.T) {
	tier.More(t)
	t.Parallel()
	model.Property{
		Weights: map[string]int{"change": 11, "try": 1, "go back": 2, "go forward": 2, "checkpoint": 1, "go to": 1, "die": 2},
		Steps:   30,
		Begin:   (*model.Run).Remembers,
		Check:   (*model.Run).Digest,
	}.Holds(t)
}
