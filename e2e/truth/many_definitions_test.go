package truth

import (
	"fmt"
	"strings"
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/tier"
)

// Definitions of which one answer cannot tell all are back after the image has died, but for one
// that the same code has undefined at its end.
func TestManyDefinitionsAtOnce(t *testing.T) {
	tier.More(t)
	t.Parallel()
	const many = 2500
	var code strings.Builder
	for i := range many {
		fmt.Fprintf(&code, "(defun many%d () %d) ", i, i)
	}
	s := harness.Start(t)
	if text, isErr := harness.EvalWithin(t, s, code.String()+"(fmakunbound 'many2490)", 600); isErr || text != "=> MANY2490" {
		t.Fatal(text)
	}
	harness.Kill9(t, s)
	text := harness.Good(t, s, "evaluate-lisp", harness.Object{"timeout": 600,
		"code": "(list (many0) (many2001) (many2499) (fboundp 'many2490) (loop for i below 2500 count (fboundp (find-symbol (format nil \"MANY~d\" i)))))"})
	if !strings.HasPrefix(text, "=> (0 2001 2499 NIL 2499)\n") || !strings.Contains(text, "Restored: 2499 definitions.") {
		t.Error(text)
	}
}
