//go:build unix

package harness

import (
	"strings"

	"swank-mcp/internal/await"
)

// CutOff closes the connection of s, the bridge that came last, and waits until
// both sides have seen that.
func (p *Person) CutOff(s *Server) {
	p.t.Helper()
	guests := `(symbol-value (find-symbol "*GUESTS*" :swank-mcp))`
	p.Says(`(swank::close-connection (funcall (find-symbol "GUEST-CONNECTION" :swank-mcp) (first ` + guests + `)) nil nil)`)
	if await.Until(func() bool {
		return strings.Contains(s.Said(), "the Lisp closed the connection") && p.Says("(length "+guests+")") == "0"
	}) != nil {
		p.t.Fatal("the old connection is still there")
	}
}
