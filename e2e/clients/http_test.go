package clients

import (
	"testing"
	"time"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/tier"
)

// Clients by other authors work over HTTP as they do over stdin and stdout, in both eras.
func TestForeignClientsOverHTTP(t *testing.T) {
	tier.More(t)
	t.Parallel()
	const limit = 15 * time.Second
	h := harness.StartHTTP(t, t.TempDir(), "--timeout", limit.String())
	for _, client := range []struct {
		name    string
		command func(t *testing.T) []string
		closes  bool // it cancels by closing the stream alone, which the older era does not take for that
	}{
		{"typescript", typescriptClient, false},
		{"mcp-go", mcpGoClient, true},
	} {
		for _, era := range []string{"2025-11-25", "2026-07-28"} {
			t.Run(client.name+" "+era, func(t *testing.T) {
				command := append(client.command(t), era, h.Url+"/mcp")
				judge(t, era, drive(t, command, "LISP_TOKEN="+h.Token))
			})
		}
	}
}
