package hub

import (
	"os"
	"testing"

	"swank-mcp/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }
