package guest

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/e2e/wire"
	"swank-mcp/internal/tier"
)

// While the helper is loaded from its source into a person's Lisp, that tells after each part:
// those who call meanwhile wait as long as it does.
func TestAttachTellsOfLoading(t *testing.T) {
	tier.More(t)
	t.Parallel()
	p := harness.NewPerson(t, "")
	dir := t.TempDir()
	trace, nowhere := filepath.Join(dir, "trace"), filepath.Join(dir, "no-directory")
	harness.Check(t, os.WriteFile(nowhere, nil, 0o600))
	env := append(harness.Environ(harness.Run.Dir), "XDG_CACHE_HOME="+nowhere)
	s := harness.StartCold(t, wire.Options{Env: env}, "--attach", p.Address, "--trace-swank", trace)
	harness.Open(t, s)
	harness.Want(t, s, "(+ 1 2)", "=> 3")
	said, err := os.ReadFile(trace)
	harness.Check(t, err)
	if n := bytes.Count(said, []byte(`"swank-mcp loading"`)); n < 5 {
		t.Errorf("it has told of %d parts:\n%s", n, harness.Tail(string(said), 3000))
	}
}
