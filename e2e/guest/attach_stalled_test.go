package guest

import (
	"strings"
	"testing"
	"time"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/stall"
)

// A Lisp that hardly gets the processor is attached to in the end, and until then nothing is
// said of it that is not so.
func TestAttachStalled(t *testing.T) {
	t.Parallel()
	ways := stall.Ways
	if *stall.Rounds == 0 {
		ways = ways[:1]
	}
	for _, w := range ways {
		t.Run(w.Name, func(t *testing.T) {
			t.Parallel()
			p := harness.NewPerson(t, "")
			s := harness.Attached(t, p)
			stall.Process(t, p.Pid(), 0, w)
			for {
				got := harness.Call(t, s, "session-status", harness.Object{}).Text()
				began := time.Now()
				text, _ := harness.EvalWithin(t, s, "(+ 1 2)", 60)
				t.Logf("after %v: %s", time.Since(began), harness.Clip(text))
				got += text
				for _, untrue := range []string{"no Swank at", "no Lisp at", "does nothing", "has ended", "lost", "is gone", "nothing listens"} {
					if strings.Contains(got, untrue) {
						t.Fatalf("it says %q of a Lisp that is slow:\n%s", untrue, got)
					}
				}
				if text == "=> 3" {
					return
				}
			}
		})
	}
}
