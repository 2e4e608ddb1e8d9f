//go:build unix

package harness

import (
	"time"

	"swank-mcp/e2e/wire"
	"swank-mcp/internal/await"
	"swank-mcp/swank"
)

const StoppedHead = "[STOPPED] Evaluation stopped by the person"

// evaluates reports whether code of an agent runs in the person's image, which has the helper.
func (p *Person) evaluates() bool {
	p.t.Helper()
	return p.Says("(some #'swank-mcp::evaluation-activep swank-mcp::*evaluations*)") == "T"
}

// Running has s evaluate code, and returns when the image is at it.
func (p *Person) Running(s *Server, code string) *wire.Pending {
	p.t.Helper()
	call := SendCall(p.t, s, code)
	if await.Until(p.evaluates) != nil {
		p.t.Fatalf("%s does not begin", code)
	}
	time.Sleep(100 * time.Millisecond) // it is compiled first
	return call
}

// Prints returns the output of code in the person's own connection.
func (p *Person) Prints(code string) string {
	p.t.Helper()
	var g swank.Grabbed
	if err := p.Connect().Call(p.t.Context(), swank.Request{Form: swank.EvalAndGrabOutput(code)}, &g); err != nil {
		p.t.Fatalf("the person's %s: %v", code, err)
	}
	return g.Output
}
