package guest

import (
	"os"
	"testing"

	"swank-mcp/e2e/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.Main(m)) }
