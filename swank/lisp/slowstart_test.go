package lisp

import (
	"errors"
	"strings"
	"testing"
	"time"

	"swank-mcp/swank/lisp/attach"
)

// Who waits for a person's Lisp is not sent to flags of launched images.
func TestSlowStart(t *testing.T) {
	t.Parallel()
	target, err := attach.ParseTarget("127.0.0.1:4005", false)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		config   Config
		problem  string
		userInit bool
	}{
		{Config{}, "the Lisp image is still starting after 30s", true},
		{Config{Attach: target}, "no connection to 127.0.0.1:4005 has come about yet.", false},
	} {
		var got *StartError
		if err := (&Image{cfg: c.config}).slowStart(30 * time.Second); !errors.As(err, &got) || got.Problem != c.problem || strings.Contains(got.Advice, "--no-userinit") != c.userInit || !strings.Contains(got.Advice, "Send the call again") {
			t.Errorf("%+v", got)
		}
	}
}
