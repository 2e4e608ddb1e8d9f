//go:build unix

package harness

import "swank-mcp/swank"

const StoppedHead = "[STOPPED] Evaluation stopped by the person"

// Prints returns the output of code in the person's own connection.
func (p *Person) Prints(code string) string {
	p.t.Helper()
	var g swank.Grabbed
	if err := p.Connect().Call(p.t.Context(), swank.Request{Form: swank.EvalAndGrabOutput(code)}, &g); err != nil {
		p.t.Fatalf("the person's %s: %v", code, err)
	}
	return g.Output
}
