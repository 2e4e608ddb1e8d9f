package lisp

import (
	"errors"
	"strings"
	"testing"

	"swank-mcp/swank/lisp/attach"
)

// Who waits for a person's Lisp is not sent to flags of launched images.
func TestSlowStart(t *testing.T) {
	t.Parallel()
	target, err := attach.ParseTarget("127.0.0.1:4005", false)
	if err != nil {
		t.Fatal(err)
	}
	var got *StartError
	const problem = "no connection to 127.0.0.1:4005 has come about yet."
	if err := (&Image{cfg: Config{Attach: target}}).slowStart(); !errors.As(err, &got) || got.Problem != problem || strings.Contains(got.Advice, "--no-userinit") || !strings.Contains(got.Advice, "Send the call again") {
		t.Errorf("%+v", got)
	}
}
