package e2e

import (
	"strings"
	"testing"
	"time"

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
			p := newPerson(t, "")
			s := attached(t, p)
			stall.Process(t, p.pid(), 0, w)
			for {
				got := call(t, s, "session-status", object{}).Text()
				began := time.Now()
				text, _ := evalWithin(t, s, "(+ 1 2)", 60)
				t.Logf("after %v: %s", time.Since(began), clip(text))
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
