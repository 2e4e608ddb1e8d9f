package session

import (
	"testing"

	"swank-mcp/e2e/model"
	"swank-mcp/internal/tier"
)

// For all sequences of calls, what changes the package changes it for the next
// call, and nothing else does; symbols resolve as the standard says.
func TestPackageContextProperty(t *testing.T) {
	tier.More(t)
	t.Parallel()
	model.Property{
		Weights: map[string]int{
			"package": 4, "in": 2, "set package": 1, "in and back": 1, "in, then error": 1, "error, then in": 1,
			"argument": 1, "argument and in": 1, "argument and error": 1, "delete": 1, "rename": 2,
			"use": 2, "export": 2, "function": 3, "function in": 1, "reset": 2,
		},
		Steps: 1000,
		Begin: (*model.Run).HasMini,
		Check: (*model.Run).Symbols,
	}.Holds(t)
}
