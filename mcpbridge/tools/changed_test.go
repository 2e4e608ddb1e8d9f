package tools

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"swank-mcp/internal/tier"
)

// A file is mended up to a size, and read no further.
func TestMendLargeFile(t *testing.T) {
	tier.More(t)
	t.Parallel()
	file := filepath.Join(t.TempDir(), "a.lisp")
	rest := "\n" + strings.Repeat("(line)\n", maxChanged/7)
	for _, c := range []struct{ text, err string }{
		{"(f" + rest[:maxChanged-2], ""},
		{"(f" + rest, "it is too large: it has more than 4 MB"},
	} {
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		said, mended, err := MendFile(t.Context(), file)
		if c.err == "" && (err != nil || !mended || !strings.Contains(said, "\n-(f\n+(f)\n")) {
			t.Errorf("%v, %v: %.300s", mended, err, said)
		}
		if c.err != "" && (err == nil || err.Error() != c.err) {
			t.Errorf("%v, %v, want %s", mended, err, c.err)
		}
	}
}
